// SPDX-License-Identifier: Apache-2.0
// From text to an option's field and back. The kind of the field selects the parser. The value must
// be within the row's limits.
#include <algorithm>
#include <array>
#include <charconv>
#include <type_traits>

#include "base/text.h"
#include "options/options.h"

namespace cronlatch {
namespace {

constexpr std::size_t kLongestText = 4'096;

template <class E>
struct Word {
  std::string_view text;
  E value;
};

// The words of each enumeration; the type of the null pointer selects the overload. A test compares
// them with the limits of the rows.
constexpr std::array<Word<OnBusy>, 3> words(const OnBusy*) {
  return {{{"skip", OnBusy::skip}, {"wait", OnBusy::wait}, {"fail", OnBusy::fail}}};
}
constexpr std::array<Word<OnLost>, 3> words(const OnLost*) {
  return {{{"kill", OnLost::kill}, {"term", OnLost::term}, {"warn", OnLost::warn}}};
}
constexpr std::array<Word<OnStoreDown>, 3> words(const OnStoreDown*) {
  return {{{"fail", OnStoreDown::fail}, {"wait", OnStoreDown::wait}, {"run", OnStoreDown::run}}};
}
constexpr std::array<Word<Leftovers>, 3> words(const Leftovers*) {
  return {{{"end", Leftovers::end}, {"wait", Leftovers::wait}, {"leave", Leftovers::leave}}};
}
constexpr std::array<Word<Untracked>, 2> words(const Untracked*) {
  return {{{"refuse", Untracked::refuse}, {"allow", Untracked::allow}}};
}
constexpr std::array<Word<GuardianMode>, 2> words(const GuardianMode*) {
  return {{{"auto", GuardianMode::automatic}, {"off", GuardianMode::off}}};
}
constexpr std::array<Word<KeyFormat>, 4> words(const KeyFormat*) {
  return {{{"native", KeyFormat::native},
           {"cronlock", KeyFormat::cronlock},
           {"golock", KeyFormat::golock},
           {"redlock", KeyFormat::redlock}}};
}
constexpr std::array<Word<LogFormat>, 3> words(const LogFormat*) {
  return {{{"text", LogFormat::text}, {"json", LogFormat::json}, {"logfmt", LogFormat::logfmt}}};
}
constexpr std::array<Word<Level>, 4> words(const Level*) {
  return {{{"error", Level::error},
           {"warn", Level::warn},
           {"info", Level::info},
           {"debug", Level::debug}}};
}
constexpr std::array<Word<bool>, 2> words(const bool*) {
  return {{{"true", true}, {"false", false}}};
}

template <class E>
Status parse_word(E& out, const Option& option, std::string_view text) {
  for (const Word<E>& word : words(static_cast<const E*>(nullptr))) {
    if (word.text != text) continue;
    out = word.value;
    return Done{};
  }
  return Error{Code::usage, quoted(text) + " is not one of " + std::string(option.limits),
               "write one of " + std::string(option.limits)};
}

template <class E>
std::string show_word(E value) {
  for (const Word<E>& word : words(static_cast<const E*>(nullptr)))
    if (word.value == value) return std::string(word.text);
  return "";
}

Error out_of_range(const Option& option, std::string_view text) {
  return {Code::usage, quoted(text) + " is out of range",
          "allowed is " + std::string(option.limits)};
}

// "5s to 1h, and more text" -> {"5s", "1h"}; empty if the limits are no range.
struct ValueRange {
  std::string_view from, to;
};
ValueRange range_of(std::string_view limits) {
  constexpr std::string_view kTo = " to ";
  const std::size_t at = limits.find(kTo);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = limits.substr(at + kTo.size());
  return {limits.substr(0, at), rest.substr(0, rest.find_first_of(" ,"))};
}

Result<std::int64_t> parse_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return Error{Code::usage, quoted(text) + " is not a whole number"};
}

Status parse_value(Millis& out, const Option& option, std::string_view text) {
  const Result<Millis> value = parse_duration(text);
  if (!value) return value.error();
  if (!is_in_range(option.limits, *value)) return out_of_range(option, text);
  out = *value;
  return Done{};
}

Status parse_value(std::optional<Millis>& out, const Option& option, std::string_view text) {
  Millis value{};
  Status parsed = parse_value(value, option, text);
  if (parsed.ok()) out = value;
  return parsed;
}

Status parse_value(int& out, const Option& option, std::string_view text) {
  const Result<std::int64_t> value = parse_number(text);
  if (!value)
    return Error{Code::usage, value.error().message, "allowed is " + std::string(option.limits)};
  if (*value < 0 || !is_in_range(option.limits, static_cast<std::size_t>(*value)))
    return out_of_range(option, text);
  out = static_cast<int>(*value);
  return Done{};
}

// Labels of metrics and JSON contain only UTF-8. The name of a file may contain any byte.
Status check_characters(const Option& option, std::string_view text, bool must_be_utf8) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.substr(at));
    const std::string where = " at position " + std::to_string(at + 1);
    if (length == 0 && must_be_utf8)
      return Error{Code::usage, quoted(text) + " is not valid UTF-8" + where,
                   "allowed is " + std::string(option.limits)};
    if (is_control(text.substr(at, std::max(length, std::size_t{1}))))
      return Error{Code::usage, quoted(text) + " has a control character" + where, "leave it out"};
    at += std::max(length, std::size_t{1});
  }
  return Done{};
}

Status parse_value(std::string& out, const Option& option, std::string_view text) {
  if (option.check != nullptr)
    if (Status checked = option.check(text); !checked) return checked;
  const Result<std::int64_t> most = parse_number(range_of(option.limits).to);
  const std::size_t longest = most.ok() ? static_cast<std::size_t>(*most) : kLongestText;
  if (text.size() > longest)
    return Error{Code::usage, "the value is " + std::to_string(text.size()) + " bytes long",
                 "at most " + std::to_string(longest) + " bytes"};
  if (Status checked = check_characters(option, text, most.ok()); !checked) return checked;
  out = std::string(text);
  return Done{};
}

Status parse_value(std::vector<std::string>& out, const Option&, std::string_view text) {
  Result<std::vector<std::string>> strings = parse_json_strings(text);
  if (!strings) return strings.error();
  const std::string hint = R"(write it like ["sh", "-c", "echo skipped"])";
  if (strings->empty() || strings->front().empty())
    return Error{Code::usage, "the array has no command", hint};
  for (const std::string& one : *strings)
    if (one.find('\0') != std::string::npos)
      return Error{Code::usage, quoted(text) + " contains a NUL byte", hint};
  out = std::move(strings).value();
  return Done{};
}

Status parse_value(StringLists& out, const Option&, std::string_view text) {
  Result<StringLists> lists = parse_json_string_lists(text);
  if (!lists) return lists.error();
  if (lists->empty())
    return Error{Code::usage, "the object has no architecture",
                 R"(write it like {"amd64": ["/app"], "arm64": ["/app-arm"]})"};
  for (const auto& [name, strings] : *lists)
    for (const std::string& one : strings)
      if (one.find('\0') != std::string::npos)
        return Error{Code::usage, quoted(text) + " contains a NUL byte", "leave it out"};
  out = std::move(lists).value();
  return Done{};
}

template <class E>
requires std::is_enum_v<E> || std::is_same_v<E, bool> Status parse_value(E& out,
                                                                         const Option& option,
                                                                         std::string_view text) {
  return parse_word(out, option, text);
}

std::string show_value(const std::string& value) { return value; }
std::string show_value(Millis value) { return show_duration(value); }
std::string show_value(const std::optional<Millis>& value) {
  return value ? show_duration(*value) : "";
}
std::string show_value(const std::vector<std::string>& value) {
  return value.empty() ? "" : show_json_strings(value);
}
std::string show_value(const StringLists& value) {
  return value.empty() ? "" : show_json_string_lists(value);
}
template <class E>
requires std::is_enum_v<E> || std::is_integral_v<E> std::string show_value(E value) {
  if constexpr (std::is_same_v<E, int>)
    return std::to_string(value);
  else
    return show_word(value);
}

}  // namespace

bool is_in_range(std::string_view limits, Millis value) {
  const ValueRange range = range_of(limits);
  const Result<Millis> from = parse_duration(range.from), to = parse_duration(range.to);
  return from && to && value >= *from && value <= *to;
}

bool is_in_range(std::string_view limits, std::size_t value) {
  const ValueRange range = range_of(limits);
  const Result<std::int64_t> from = parse_number(range.from), to = parse_number(range.to);
  return from && to && value >= static_cast<std::size_t>(*from) &&
         value <= static_cast<std::size_t>(*to);
}

Status apply_text(Options& options, const Option& option, std::string_view text) {
  // An empty value in a template must not select the default: the default store locks only on this
  // host.
  if (text.empty() && option.check == nullptr)
    return Error{Code::usage, "the value is empty", "remove the option to use its default"};
  return std::visit([&](auto member) { return parse_value(options.*member, option, text); },
                    option.field);
}

Status set_option(Options& options, const Option& option, std::string_view text) {
  Status applied = apply_text(options, option, text);
  if (applied.ok()) return applied;
  Error error = applied.error();
  error.message = std::string(option.key) + ": " + error.message;
  return error;
}

std::string show_option(const Options& options, const Option& option) {
  return std::visit([&](auto member) { return show_value(options.*member); }, option.field);
}

}  // namespace cronlatch
