// SPDX-License-Identifier: Apache-2.0
// The reader of the command line. Values are not parsed here, and never shown: one may be a
// password in the wrong place.
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
struct Word {
  std::string name;
  std::optional<std::string> value;
};
Word split(const std::string& word) {
  const std::size_t at = word.find('=');
  if (at == std::string::npos || !word.starts_with("--")) return {word, std::nullopt};
  return {word.substr(0, at), word.substr(at + 1)};
}

Error unknown_flag(const std::string& name) {
  if (name == "--password" || name == "--redis-password")
    return {Code::usage, "a password is never a flag: everybody on this host could read it",
            "give it as password-file, credentials-dir or CRONLATCH_PASSWORD"};
  const std::size_t bare = std::min(name.find_first_not_of('-'), name.size());
  return unknown_key("unknown flag " + printable(name, 80), std::string_view(name).substr(bare),
                     flag_of);
}

class Reader {
 public:
  Reader(std::span<const std::string> args, Rest rest, std::span<const ExtraFlag> extras)
      : args_(args), rest_(rest), extras_(extras) {}

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
  Status flag(const Word& word) {
    const auto extra = std::find_if(extras_.begin(), extras_.end(),
                                    [&](const ExtraFlag& e) { return e.name == word.name; });
    if (extra != extras_.end()) return extra_flag(word, *extra);
    const Option* const option =
        word.name.starts_with("--") ? find_option(word.name.substr(2)) : nullptr;
    if (option == nullptr) return unknown_flag(word.name);
    if (given(*option)) return twice(word.name);
    if (is_switch(*option) && !word.value) return add(*option, "true");
    const Result<std::string> text = value_of(word);
    return text.ok() ? add(*option, *text) : Status(text.error());
  }

  Status extra_flag(const Word& word, const ExtraFlag& extra) {
    if (flags_.extras.count(word.name) != 0) return twice(word.name);
    if (!extra.takes_value) {
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
    return Error{Code::usage, name + " is given twice", "leave one of the two out"};
  }

  // The value behind '=', or the next word; a word that looks like a flag is far more often a
  // forgotten value.
  Result<std::string> value_of(const Word& word) {
    if (word.value) return *word.value;
    const bool long_name = word.name.starts_with("--");
    if (at_ + 1 < args_.size() && !args_[at_ + 1].starts_with("--")) return args_[++at_];
    return Error{Code::usage, word.name + " needs a value",
                 "write " + word.name + (long_name ? "=VALUE" : " VALUE")};
  }

  Status word(const std::string& arg) {
    if (rest_ == Rest::name && flags_.rest.empty()) {
      flags_.rest.push_back(arg);
      return Done{};
    }
    const bool command = rest_ == Rest::command || rest_ == Rest::optional_command;
    return Error{Code::usage, "unexpected word " + quoted(arg),
                 command ? "put -- before the command"
                         : "`cronlatch help` shows what each subcommand takes"};
  }

  Result<Flags> end() {
    const std::span<const std::string> behind = args_.subspan(at_ + 1);
    if (rest_ == Rest::command || rest_ == Rest::optional_command) {
      flags_.rest.assign(behind.begin(), behind.end());
    } else {
      for (const std::string& arg : behind)
        if (Status taken = word(arg); !taken) return taken.error();
    }
    return finish();
  }

  Result<Flags> finish() {
    if (rest_ == Rest::command && (flags_.rest.empty() || flags_.rest.front().empty()) &&
        !given(*find_option("command-by-arch")))
      return Error{Code::usage, "no command is given",
                   "write cronlatch run [options] -- COMMAND [ARG...]"};
    if (rest_ == Rest::name && flags_.rest.empty())
      return Error{Code::usage, "no lock is named", "`cronlatch ls` lists them"};
    return std::move(flags_);
  }

  std::span<const std::string> args_;
  Rest rest_;
  std::span<const ExtraFlag> extras_;
  std::size_t at_ = 0;
  Flags flags_;
};

}  // namespace

Result<Flags> parse_flags(std::span<const std::string> args, Rest rest,
                          std::span<const ExtraFlag> extras) {
  return Reader(args, rest, extras).read();
}

}  // namespace cronlatch
