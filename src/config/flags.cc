// SPDX-License-Identifier: Apache-2.0
// Parses the command line. Values are not parsed here and are in no message, because one may be a
// misplaced password.
#include "config/flags.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace cronlatch {
namespace {

bool is_switch(const Option& option) {
  return std::holds_alternative<bool Options::*>(option.field);
}

// "--key=value" -> {"--key", "value"}; without '=' there is no value yet.
struct Argument {
  std::string name;
  std::optional<std::string> value;
};
Argument split(const std::string& word) {
  const std::size_t at = word.find('=');
  if (at == std::string::npos || !word.starts_with("--")) return {word, std::nullopt};
  return {word.substr(0, at), word.substr(at + 1)};
}

Error unknown_flag(const std::string& name) {
  if (name == "--password" || name == "--redis-password")
    return {Code::usage, "a password cannot be a flag: every user of this host could read it",
            "use password-file, credentials-dir or CRONLATCH_PASSWORD"};
  const std::size_t bare = std::min(name.find_first_not_of('-'), name.size());
  return unknown_key("unknown flag " + printable(name, 80), std::string_view(name).substr(bare),
                     flag_of);
}

class FlagParser {
 public:
  FlagParser(std::span<const std::string> args, Operands operands,
             std::span<const ExtraFlag> extras)
      : args_(args), operands_(operands), extras_(extras) {}

  Result<Flags> read() {
    for (; at_ < args_.size(); ++at_) {
      const std::string& arg = args_[at_];
      if (arg == "--") return end();
      const bool is_flag = arg.size() > 1 && arg.front() == '-';
      if (Status taken = is_flag ? flag(split(arg)) : word(arg); !taken) return taken.error();
    }
    return finish();
  }

 private:
  const ExtraFlag* find_extra(std::string_view name) const {
    const auto at = std::find_if(extras_.begin(), extras_.end(),
                                 [name](const ExtraFlag& extra) { return extra.name == name; });
    return at == extras_.end() ? nullptr : &*at;
  }

  // `-ojson` and `-o=json`.
  const ExtraFlag* find_attached(const std::string& word) const {
    if (word.starts_with("--") || word.size() <= 2) return nullptr;
    const ExtraFlag* const extra = find_extra(std::string_view(word).substr(0, 2));
    return extra != nullptr && extra->takes_value() ? extra : nullptr;
  }

  Status flag(const Argument& word) {
    if (const ExtraFlag* extra = find_extra(word.name)) return extra_flag(word, *extra);
    if (const ExtraFlag* extra = find_attached(word.name))
      return extra_flag({std::string(extra->name), word.name.substr(word.name[2] == '=' ? 3 : 2)},
                        *extra);
    const Option* const option =
        word.name.starts_with("--") ? find_option(word.name.substr(2)) : nullptr;
    if (option == nullptr) return unknown_flag(word.name);
    if (given(*option)) return twice(word.name);
    if (is_switch(*option) && !word.value) return add(*option, "true");
    const Result<std::string> text = value_of(word);
    return text.ok() ? add(*option, *text) : Status(text.error());
  }

  Status extra_flag(const Argument& word, const ExtraFlag& extra) {
    if (flags_.extras.count(word.name) != 0) return twice(word.name);
    if (!extra.takes_value()) {
      if (word.value)
        return Error{Code::usage, word.name + " takes no value", "write " + word.name + " alone"};
      flags_.extras[word.name] = "";
      return Done{};
    }
    const Result<std::string> text = value_of(word);
    if (!text) return text.error();
    flags_.extras[word.name] = *text;
    return Done{};
  }

  bool given(const Option& option) const {
    return std::any_of(flags_.settings.begin(), flags_.settings.end(),
                       [&](const Setting& s) { return s.option == &option; });
  }

  Status add(const Option& option, const std::string& text) {
    flags_.settings.push_back({&option, text, "flag", flag_of(option)});
    return Done{};
  }

  static Status twice(const std::string& name) {
    return Error{Code::usage, name + " is given twice", "remove one of the two"};
  }

  // The value after '=', or the next word. A next word that begins with -- is refused, because the
  // value is probably missing.
  Result<std::string> value_of(const Argument& word) {
    if (word.value) return *word.value;
    const bool long_name = word.name.starts_with("--");
    if (at_ + 1 < args_.size() && !args_[at_ + 1].starts_with("--")) return args_[++at_];
    return Error{Code::usage, word.name + " needs a value",
                 "write " + word.name + (long_name ? "=VALUE" : " VALUE")};
  }

  Status word(const std::string& arg) {
    if (operands_ == Operands::name && flags_.operands.empty()) {
      flags_.operands.push_back(arg);
      return Done{};
    }
    const bool command = operands_ == Operands::command || operands_ == Operands::optional_command;
    return Error{
        Code::usage, "unexpected word " + quoted(arg),
        switch_before() + (command ? "put -- before the command"
                                   : "`cronlatch help` shows the operands of each subcommand")};
  }

  // `--strict true`: a blank separates the value of every other option, but not that of a switch.
  std::string switch_before() const {
    if (at_ == 0 || !args_[at_ - 1].starts_with("--")) return "";
    const Option* const option = find_option(args_[at_ - 1].substr(2));
    if (option == nullptr || !is_switch(*option)) return "";
    return "write " + flag_of(*option) + "=true or =false if it is a value; ";
  }

  Result<Flags> end() {
    const std::span<const std::string> behind = args_.subspan(at_ + 1);
    if (operands_ == Operands::command || operands_ == Operands::optional_command) {
      flags_.operands.assign(behind.begin(), behind.end());
    } else {
      for (const std::string& arg : behind)
        if (Status taken = word(arg); !taken) return taken.error();
    }
    return finish();
  }

  Result<Flags> finish() {
    if (operands_ == Operands::command &&
        (flags_.operands.empty() || flags_.operands.front().empty()) &&
        !given(*find_option("command-by-arch")))
      return Error{Code::usage, "no command is given",
                   "write cronlatch run [options] -- COMMAND [ARG...]"};
    if (operands_ == Operands::name && flags_.operands.empty())
      return Error{Code::usage, "the name of the lock is missing",
                   "`cronlatch ls` lists the locks"};
    return std::move(flags_);
  }

  std::span<const std::string> args_;
  Operands operands_;
  std::span<const ExtraFlag> extras_;
  std::size_t at_ = 0;
  Flags flags_;
};

}  // namespace

Result<Flags> parse_flags(std::span<const std::string> args, Operands operands,
                          std::span<const ExtraFlag> extras) {
  return FlagParser(args, operands, extras).read();
}

}  // namespace cronlatch
