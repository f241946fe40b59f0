// SPDX-License-Identifier: Apache-2.0
// What must hold for every row of the option table.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <type_traits>

#include "options/options.h"
#include "support/source_dir.h"

namespace cronlatch {
namespace {

bool is_range(std::string_view limits) { return limits.find(" to ") != std::string_view::npos; }

template <class... Kinds>
bool is_one_of(const Option& option) {
  return (std::holds_alternative<Kinds>(option.field) || ...);
}

bool has_words(const Option& option) {
  return std::visit(
      []<class Value>(Value Options::*) {
        return std::is_enum_v<Value> || std::is_same_v<Value, bool>;
      },
      option.field);
}

TEST(OptionTable, AppliesEveryDefault) {
  const Options defaults;
  for (const Option& option : option_table()) {
    const std::string shown = show_option(defaults, option);
    EXPECT_EQ(shown, option.fallback) << option.key;
    if (shown.empty()) continue;
    Options again;
    EXPECT_TRUE(set_option(again, option, shown).ok()) << option.key;
    EXPECT_EQ(show_option(again, option), shown) << option.key;
  }
}

// The members that options.h declares between `struct Options {` and its end.
std::set<std::string> declared_members() {
  std::ifstream file(cronlatch::testing::source_dir() + "/src/options/options.h");
  static const std::regex kMember("^  [A-Za-z:<>_]+(<std::string>)? ([a-z_]+)(\\{.*\\})?;.*$");
  std::set<std::string> members;
  std::string line;
  while (std::getline(file, line) && line != "struct Options {") continue;
  while (std::getline(file, line) && line != "};")
    if (std::smatch match; std::regex_match(line, match, kMember)) members.insert(match[2]);
  return members;
}

TEST(OptionTable, HasOneRowPerMember) {
  std::set<std::string> rows;
  std::set<const void*> places;
  const Options options;
  for (const Option& option : option_table()) {
    std::string name(option.key);
    std::replace(name.begin(), name.end(), '-', '_');
    rows.insert(name);
    const void* const place =
        std::visit([&](auto member) -> const void* { return &(options.*member); }, option.field);
    EXPECT_TRUE(places.insert(place).second) << option.key << " shares its member";
  }
  const std::set<std::string> members = declared_members();
  for (const std::string& name : members)
    EXPECT_TRUE(rows.contains(name)) << name << " is in options.h, but not in option_table.cc";
  EXPECT_EQ(rows.size(), members.size());
}

TEST(OptionTable, ExplainsEveryDefaultThatIsNoConstant) {
  for (const Option& option : option_table())
    EXPECT_NE(option.fallback.empty(), option.fallback_note.empty()) << option.key;
}

TEST(OptionTable, DescribesEveryRowInOneLine) {
  std::set<std::string_view> keys;
  for (const Option& option : option_table()) {
    EXPECT_TRUE(keys.insert(option.key).second) << option.key;
    EXPECT_EQ(option.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos)
        << option.key;
    EXPECT_FALSE(option.help.empty()) << option.key;
    EXPECT_FALSE(option.limits.empty()) << option.key;
    EXPECT_LE(option.help.size(), 110U) << option.key;
    EXPECT_EQ(option.help.find('\n'), std::string_view::npos) << option.key;
  }
}

TEST(OptionTable, GivesRangesToNumbersAndDurations) {
  for (const Option& option : option_table())
    if (is_one_of<Millis Options::*, std::optional<Millis> Options::*, int Options::*>(option)) {
      EXPECT_TRUE(is_range(option.limits)) << option.key;
    }
}

TEST(OptionTable, EveryAnnotationHasAValidExample) {
  for (const Option& option : option_table()) {
    if (!option.annotatable()) {
      EXPECT_TRUE(option.annotation.note.empty()) << option.key << " has a note, but no example";
      continue;
    }
    Options options;
    EXPECT_TRUE(set_option(options, option, option.annotation.example).ok()) << option.key;
  }
}

TEST(OptionTable, NamesExactlyTheWordsThatAreTaken) {
  for (const Option& option : option_table()) {
    if (!has_words(option)) continue;
    std::size_t from = 0;
    while (from <= option.limits.size()) {
      const std::size_t comma = std::min(option.limits.find(", ", from), option.limits.size());
      const std::string word(option.limits.substr(from, comma - from));
      Options options;
      EXPECT_TRUE(set_option(options, option, word).ok()) << option.key << " " << word;
      EXPECT_EQ(show_option(options, option), word) << option.key;
      from = comma + 2;
    }
    Options options;
    EXPECT_FALSE(set_option(options, option, "maybe").ok()) << option.key;
    EXPECT_FALSE(set_option(options, option, "True").ok()) << option.key;
    EXPECT_FALSE(set_option(options, option, "yes").ok()) << option.key;
  }
}

TEST(OptionTable, ReadsEveryWordAsItsMeaning) {
  Options options;
  EXPECT_TRUE(set_option(options, *find_option("on-busy"), "wait").ok());
  EXPECT_TRUE(set_option(options, *find_option("on-lost"), "warn").ok());
  EXPECT_TRUE(set_option(options, *find_option("on-store-down"), "run").ok());
  EXPECT_TRUE(set_option(options, *find_option("leftovers"), "leave").ok());
  EXPECT_TRUE(set_option(options, *find_option("log-format"), "logfmt").ok());
  EXPECT_TRUE(set_option(options, *find_option("log-level"), "debug").ok());
  EXPECT_EQ(options.on_busy, OnBusy::wait);
  EXPECT_EQ(options.on_lost, OnLost::warn);
  EXPECT_EQ(options.on_store_down, OnStoreDown::run);
  EXPECT_EQ(options.leftovers, Leftovers::leave);
  EXPECT_EQ(options.log_format, LogFormat::logfmt);
  EXPECT_EQ(options.log_level, Level::debug);
}

TEST(OptionTable, DerivesEveryNameFromTheKey) {
  EXPECT_EQ(flag_of(*find_option("on-busy")), "--on-busy");
  EXPECT_EQ(variable_of(*find_option("on-busy")), "CRONLATCH_ON_BUSY");
  EXPECT_EQ(annotation_of(*find_option("on-busy")), "cronlatch.dev/on-busy");
  EXPECT_EQ(annotation_of(*find_option("store")), "");
  EXPECT_EQ(variable_of(*find_option("config")), "CRONLATCH_CONFIG");
  EXPECT_EQ(variable_of(*find_option("isolated")), "");
}

// The text of all sources and scripts below `folder`, without those of the table itself.
std::string texts_below(const std::string& folder) {
  static const std::set<std::string> kKinds{".cc", ".h", ".sh", ".py", ".jq", ".yaml"};
  namespace fs = std::filesystem;
  std::string all;
  for (fs::recursive_directory_iterator entry(fs::path(cronlatch::testing::source_dir()) / folder),
       end;
       entry != end; ++entry) {
    const std::string name = entry->path().filename();
    if (entry->is_directory() && (name == "options" || name == "corpus"))
      entry.disable_recursion_pending();
    if (!entry->is_regular_file() || !kKinds.contains(entry->path().extension())) continue;
    std::ifstream file(entry->path(), std::ios::binary);
    all.append(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return all;
}

// `before` and the name, as a whole word.
bool has_name(const std::string& text, const std::string& before, const std::string& name) {
  const std::string wanted = before + name;
  for (std::size_t at = text.find(wanted); at != std::string::npos;
       at = text.find(wanted, at + 1)) {
    const char next = at + wanted.size() < text.size() ? text[at + wanted.size()] : ' ';
    if (next != '_' && next != '-' && (next < 'a' || next > 'z')) return true;
  }
  return false;
}

bool names_option(const std::string& text, const Option& option) {
  std::string member(option.key);
  std::replace(member.begin(), member.end(), '-', '_');
  for (const char* const before : {"ptions.", "ptions_.", "ptions->", "ptions()."})
    if (has_name(text, before, member)) return true;
  for (const char* const before : {"\"", "--", "cronlatch.dev/"})
    if (has_name(text, before, std::string(option.key))) return true;
  return !variable_of(option).empty() && has_name(text, variable_of(option), "");
}

TEST(OptionTable, EveryOptionIsUsedAndTested) {
  const std::string code = texts_below("src"), tests = texts_below("tests");
  for (const Option& option : option_table()) {
    EXPECT_TRUE(names_option(code, option)) << option.key << " has no code in src";
    EXPECT_TRUE(names_option(tests, option)) << option.key << " has no test in tests";
  }
}

// A wrong scope gives a nested `cronlatch run` the lock of its parent, or another store. The scopes
// are therefore stated twice for the options on which this depends.
TEST(OptionTable, KeepsTheScopesThatANestedRunNeeds) {
  for (const std::string_view key :
       {"lock", "lock-file", "key-format", "foreign-key", "job", "holder", "once-per",
        "attempt-group", "grace-period", "outcome-file", "metrics-file", "metrics-push", "min-hold",
        "max-run", "slots", "warn-after", "wait-timeout"})
    EXPECT_EQ(find_option(key)->scope, Scope::run) << key;
  for (const std::string_view key :
       {"store", "credentials-dir", "redis-username", "password-file", "sentinel-username",
        "sentinel-password-file", "tls-ca", "tls-cert", "tls-key", "tls-server-name",
        "tls-skip-verify", "key-prefix", "strict", "min-replicas", "max-ttl"})
    EXPECT_EQ(find_option(key)->scope, Scope::store) << key;
}

TEST(OptionTable, FindsTheNearestKey) {
  EXPECT_EQ(nearest_option("on-bsuy"), "on-busy");
  EXPECT_EQ(nearest_option("ON_BUZY"), "on-busy");
  EXPECT_EQ(nearest_option("tll"), "ttl");
  EXPECT_EQ(nearest_option("loc"), "lock");
  EXPECT_EQ(nearest_option("timeout"), "op-timeout");
  EXPECT_EQ(nearest_option("tls-cert-file"), "tls-cert");
  EXPECT_EQ(nearest_option("frobnicate"), "");
  EXPECT_EQ(nearest_option(""), "");
  EXPECT_EQ(nearest_option(std::string(1'000'000, 'x')), "");
}

}  // namespace
}  // namespace cronlatch
