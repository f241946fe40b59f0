// SPDX-License-Identifier: Apache-2.0
// From YAML to settings. Values stay text: `ttl: 2m` and `ttl: "2m"` are the same; the table's
// parser reads both.
#include "config/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/text.h"

namespace cronlatch {
namespace {

std::string place(const std::string& path, const YAML::Mark& mark) {
  return mark.is_null() ? path : path + ":" + std::to_string(mark.line + 1);
}

Error malformed(const std::string& where, const std::string& what, const std::string& hint) {
  return {Code::config, where + ": " + what, hint};
}

// A row's name in a file; --config and --isolated have none.
std::string key_in_file(const Option& option) {
  return option.scope == Scope::flag_only ? "" : std::string(option.key);
}

Result<std::string> value_text(const std::string& where, const Option& option,
                               const YAML::Node& value) {
  const std::string key(option.key);
  if (value.IsScalar()) return value.Scalar();
  if (value.IsMap())
    return malformed(where, key + " is a map", "write each option on its own line, as key: value");
  if (!value.IsSequence())
    return malformed(where, key + " has no value", "write a value or remove the line");
  if (!std::holds_alternative<std::vector<std::string> Options::*>(option.field))
    return malformed(where, key + " is a list", "write one value: " + key + ": value");
  std::vector<std::string> strings;
  for (const YAML::Node& one : value) {
    if (!one.IsScalar())
      return malformed(where, key + " must be a list of strings", R"(write ["sh", "-c", "true"])");
    strings.push_back(one.Scalar());
  }
  return show_json_strings(strings);
}

Result<Setting> setting_of(const std::string& path, const YAML::Node& key,
                           const YAML::Node& value) {
  const std::string where = place(path, key.Mark());
  if (!key.IsScalar())
    return malformed(where, "a key must be a string", "write every option as key: value");
  const Option* const option = find_option(key.Scalar());
  if (option == nullptr)
    return unknown_key(where + ": unknown key " + quoted(key.Scalar()), key.Scalar(), key_in_file);
  if (key_in_file(*option).empty())
    return Error{Code::usage, where + ": " + std::string(option->key) + " cannot be set in a file",
                 "use the flag " + flag_of(*option)};
  const Result<std::string> text = value_text(where, *option, value);
  if (!text) return text.error();
  return Setting{option, *text, where, where + ": " + std::string(option->key)};
}

// Finds the first node of a document.
struct FirstMark final : YAML::EventHandler {
  YAML::Mark mark = YAML::Mark::null_mark();
  void see(const YAML::Mark& at) {
    if (mark.is_null()) mark = at;
  }
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& at, YAML::anchor_t) override { see(at); }
  void OnAlias(const YAML::Mark& at, YAML::anchor_t) override { see(at); }
  void OnScalar(const YAML::Mark& at, const std::string&, YAML::anchor_t,
                const std::string&) override {
    see(at);
  }
  void OnSequenceStart(const YAML::Mark& at, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    see(at);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& at, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    see(at);
  }
  void OnMapEnd() override {}
};

// The place of a second document. Not YAML::LoadAll: it does not end for a file that begins with a
// comma, because the parser does not advance over a document without a token.
std::optional<YAML::Mark> second_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  FirstMark first;
  FirstMark second;
  if (!parser.HandleNextDocument(first) || !parser.HandleNextDocument(second)) return {};
  return second.mark;
}

Result<std::vector<Setting>> settings_of(const std::string& path, const std::string& text) {
  std::vector<Setting> settings;
  const YAML::Node document = YAML::Load(text);
  if (const std::optional<YAML::Mark> second = second_document(text))
    return malformed(place(path, *second), "the file contains more than one document",
                     "remove ---");
  if (document.IsNull()) return settings;
  if (!document.IsMap())
    return malformed(place(path, document.Mark()), "the file is not a map of options",
                     "write lines like ttl: 2m");
  for (const auto& entry : document) {
    Result<Setting> setting = setting_of(path, entry.first, entry.second);
    if (!setting) return setting.error();
    const auto first = std::find_if(settings.begin(), settings.end(),
                                    [&](const Setting& s) { return s.option == setting->option; });
    if (first != settings.end())
      return malformed(setting->where, "the key is also at " + first->origin,
                       "remove one of the two");
    settings.push_back(std::move(setting).value());
  }
  return settings;
}

}  // namespace

Result<std::vector<Setting>> yaml_settings(const std::string& path, const std::string& text) {
  try {
    return settings_of(path, text);
  } catch (const YAML::Exception& e) {
    return malformed(place(path, e.mark), "not valid YAML: " + printable(e.msg, 200),
                     "write lines like ttl: 2m");
  } catch (const std::exception& e) {
    return malformed(path, "cannot be parsed: " + printable(e.what(), 200),
                     "write lines like ttl: 2m");
  }
}

}  // namespace cronlatch
