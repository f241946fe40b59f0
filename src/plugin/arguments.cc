// SPDX-License-Identifier: Apache-2.0
#include "plugin/arguments.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "plugin/flag.h"
#include "plugin/verb.h"

namespace cronlatch::plugin {
namespace {

constexpr std::string_view kStatusVariable = "KUBECTL_CRONLATCH_STATUS=";

Error usage(std::string message, std::string hint = "see: kubectl cronlatch help") {
  return {Code::usage, std::move(message), std::move(hint)};
}

template <class Row>
const Row* find_row(std::span<const Row> rows, std::string_view flag) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& one) {
    return one.name == flag || one.short_name == flag;
  });
  return row == rows.end() ? nullptr : &*row;
}

// kubectl prints and accepts cronjob.batch/nightly and cronjob/nightly.
std::string without_kind(const std::string& word) {
  const std::size_t slash = word.find('/');
  const std::string kind = word.substr(0, slash);
  const bool is_cronjob =
      slash != std::string::npos &&
      (kind == "cronjob" || kind == "cronjobs" || kind == "cj" || kind.starts_with("cronjob."));
  return is_cronjob ? word.substr(slash + 1) : word;
}

class Parser {
 public:
  explicit Parser(std::span<const std::string> words) : words_(words) {}

  Result<Arguments> parse() {
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      const bool is_flag = word.starts_with('-') && word.size() > 1;
      const Status status = !is_flag                 ? argument(word)
                            : word.starts_with("--") ? long_flag(word)
                                                     : short_flags(word);
      if (!status) return status.error();
    }
    return check();
  }

 private:
  Status argument(const std::string& word) {
    if (out_.verb == nullptr) {
      out_.verb = find_verb(word);
      if (out_.verb == nullptr)
        return usage("unknown command " + cronlatch::quoted(word), "commands: " + verb_names());
      return Done{};
    }
    if (out_.verb->argument.empty())
      return usage(std::string(out_.verb->name) + " takes no argument; it was called with " +
                   cronlatch::quoted(word));
    if (!out_.name.empty())
      return usage(std::string(out_.verb->name) + " takes one argument; " +
                   cronlatch::quoted(word) + " is the second");
    out_.name = without_kind(word);
    return Done{};
  }

  Status long_flag(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) return flag(word, std::nullopt);
    return flag(word.substr(0, equals), word.substr(equals + 1));
  }

  // -n shop, -n=shop, -nshop, and switches in one word: -Aw, -Aojson.
  Status short_flags(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const std::string name = {'-', word[i]};
      const Flag* const own = find_row(flag_table(), name);
      std::string rest = word.substr(i + 1);
      const bool has_value = rest.starts_with('=');
      if (own != nullptr && own->is_switch() && !has_value) {
        if (const Status set = flag(name, std::nullopt); !set) return set;
        continue;
      }
      if (has_value) rest.erase(0, 1);
      return flag(name, rest.empty() && !has_value ? std::optional<std::string>() : rest);
    }
    return Done{};
  }

  Status flag(const std::string& name, std::optional<std::string> value) {
    if (const Flag* const own = find_row(flag_table(), name)) {
      if (own->is_switch() && !value) value = "true";
      if (const Status complete = complete_value(own->name, value); !complete) return complete;
      used_.push_back(own);
      const Status set = own->set(out_, *value);
      if (set) return set;
      return usage(std::string(own->name) + ": " + set.error().message, set.error().hint);
    }
    const KubectlFlag* const passed = find_row(kubectl_flag_table(), name);
    if (passed == nullptr) return usage("unknown flag " + cronlatch::quoted(name));
    if (passed->is_switch && !value) value = "true";
    if (const Status complete = complete_value(passed->name, value); !complete) return complete;
    out_.kubectl_flags.push_back(std::string(passed->name) + '=' + *value);
    return Done{};
  }

  // The next word, if the flag has no value of its own.
  Status complete_value(std::string_view name, std::optional<std::string>& value) {
    if (!value && next_ < words_.size()) value = words_[next_++];
    if (!value || value->empty()) return usage(std::string(name) + " requires a value");
    return Done{};
  }

  Result<Arguments> check() {
    const bool overview = out_.help && out_.verb == nullptr;
    if (out_.verb == nullptr) out_.verb = find_verb(overview ? "help" : "ls");
    if (out_.help) return out_;
    const Verb& verb = *out_.verb;
    for (const Flag* flag : used_)
      if (!verb.accepts(flag->name))
        return usage(std::string(verb.name) + " does not accept " + std::string(flag->name),
                     "see: kubectl cronlatch " + std::string(verb.name) + " --help");
    if (out_.output == OutputFormat::name && !verb.has_names)
      return usage(std::string(verb.name) + " does not support -o name",
                   "use table, wide, json or yaml");
    if (verb.requires_argument() && out_.name.empty())
      return usage(std::string(verb.name) + " requires an argument: " + std::string(verb.argument));
    return out_;
  }

  std::span<const std::string> words_;
  std::size_t next_ = 0;
  std::vector<const Flag*> used_;
  Arguments out_;
};

}  // namespace

Result<Arguments> parse_arguments(std::span<const std::string> words,
                                  std::span<const std::string> environment) {
  Result<Arguments> arguments = Parser(words).parse();
  if (arguments && arguments->status.empty())
    for (const std::string& entry : environment)
      if (entry.starts_with(kStatusVariable))
        arguments->status = entry.substr(kStatusVariable.size());
  return arguments;
}

}  // namespace cronlatch::plugin
