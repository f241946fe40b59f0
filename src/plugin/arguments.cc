// SPDX-License-Identifier: Apache-2.0
#include "plugin/arguments.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace cronlatch::plugin {
namespace {

struct VerbRow {
  std::string_view name;
  Verb verb;
  bool named;  // takes a name
};
constexpr std::array<VerbRow, 7> kVerbs = {{{"ls", Verb::ls, false},
                                            {"list", Verb::ls, false},
                                            {"describe", Verb::describe, true},
                                            {"why", Verb::why, true},
                                            {"release", Verb::release, true},
                                            {"uninstall-check", Verb::uninstall_check, false},
                                            {"help", Verb::help, false}}};

// What kubectl needs to find cluster and user; it gets them unchanged.
constexpr std::array<std::string_view, 12> kPassedOn = {
    "--context",  "--kubeconfig", "--cluster",         "--user",
    "--server",   "-s",           "--token",           "--as",
    "--as-group", "--as-uid",     "--tls-server-name", "--certificate-authority"};
constexpr std::array<std::string_view, 1> kPassedOnSwitches = {"--insecure-skip-tls-verify"};

constexpr std::string_view kStatusVariable = "KUBECTL_CRONLATCH_STATUS=";

Error usage(std::string message) {
  return {Code::usage, std::move(message), "see: kubectl cronlatch help"};
}

class Parser {
 public:
  explicit Parser(std::span<const std::string> words) : words_(words) {}

  Result<Arguments> parse() {
    while (at_ < words_.size()) {
      const std::string& word = words_[at_++];
      const Status taken = word.starts_with('-') && word.size() > 1 ? flag(word) : name(word);
      if (!taken) return taken.error();
    }
    return checked();
  }

 private:
  Status name(const std::string& word) {
    if (!verb_) {
      const auto row = std::find_if(kVerbs.begin(), kVerbs.end(),
                                    [&](const VerbRow& v) { return v.name == word; });
      if (row == kVerbs.end())
        return usage("unknown subcommand " + cronlatch::quoted(word) +
                     "; there are ls, describe, why, release, uninstall-check, help");
      verb_ = &*row;
      out_.verb = row->verb;
      return Done{};
    }
    if (!verb_->named) return usage(std::string(verb_->name) + " takes no name");
    if (!out_.name.empty())
      return usage("one name at a time: " + cronlatch::quoted(word) + " is a second one");
    // As kubectl prints it: cronjob.batch/nightly, cronjob/nightly.
    const std::size_t slash = word.find('/');
    const std::string kind = word.substr(0, slash);
    const bool kinded =
        slash != std::string::npos &&
        (kind == "cronjob" || kind == "cronjobs" || kind == "cj" || kind.starts_with("cronjob."));
    out_.name = kinded ? word.substr(slash + 1) : word;
    return Done{};
  }

  Status flag(const std::string& word) {
    const std::size_t equals = word.find('=');
    flag_ = word.substr(0, equals);
    inline_ = equals == std::string::npos ? std::optional<std::string>() : word.substr(equals + 1);
    if (flag_ == "-A" || flag_ == "--all-namespaces") return on(out_.all_namespaces);
    if (flag_ == "--force") return on(out_.force);
    if (flag_ == "--dry-run") return dry_run();
    if (flag_ == "--no-wait") return on(out_.no_wait);
    if (flag_ == "--remove") return on(out_.remove);
    if (flag_ == "-h" || flag_ == "--help") {
      out_.verb = Verb::help;
      help_ = true;
      return Done{};
    }
    if (flag_ == "-n" || flag_ == "--namespace") return value(out_.namespace_name);
    if (flag_ == "-o" || flag_ == "--output") return output();
    if (flag_ == "--kubectl") return value(out_.kubectl);
    if (flag_ == "--status") return value(out_.status);
    if (flag_ == "--image") return value(out_.image);
    if (flag_ == "--store") return value(out_.store);
    if (flag_ == "--secret") return value(out_.secret);
    return passed_on(word);
  }

  Status passed_on(const std::string& word) {
    if (std::find(kPassedOnSwitches.begin(), kPassedOnSwitches.end(), flag_) !=
        kPassedOnSwitches.end()) {
      out_.cluster_flags.push_back(word);
      return Done{};
    }
    if (std::find(kPassedOn.begin(), kPassedOn.end(), flag_) == kPassedOn.end()) {
      // -nshop, -ojson: how people abbreviate.
      if (word.size() > 2 && (word.starts_with("-n") || word.starts_with("-o")) && word[1] != '-') {
        const std::string rest = word.substr(2);
        flag_ = word.substr(0, 2);
        inline_ = rest;
        return flag_ == "-n" ? value(out_.namespace_name) : output();
      }
      return usage("unknown flag " + cronlatch::quoted(flag_));
    }
    std::string text;
    if (const Status taken = value(text); !taken) return taken;
    out_.cluster_flags.push_back(flag_.starts_with("--") ? flag_ + '=' + text : flag_);
    if (!flag_.starts_with("--")) out_.cluster_flags.push_back(text);
    return Done{};
  }

  Status on(bool& field) {
    if (inline_ && *inline_ != "true" && *inline_ != "false")
      return usage(flag_ + " is a switch: true or false");
    field = !inline_ || *inline_ == "true";
    return Done{};
  }

  // kubectl's --dry-run=client and =server are the same here: both are asked for.
  Status dry_run() {
    out_.dry_run = !inline_ || (*inline_ != "false" && *inline_ != "none");
    return Done{};
  }

  Status value(std::string& field) {
    if (inline_)
      field = *inline_;
    else if (at_ < words_.size())
      field = words_[at_++];
    else
      return usage(flag_ + " needs a value");
    if (field.empty()) return usage(flag_ + " needs a value");
    return Done{};
  }

  Status output() {
    std::string text;
    if (const Status taken = value(text); !taken) return taken;
    if (text == "table")
      out_.output = Output::table;
    else if (text == "wide")
      out_.output = Output::wide;
    else if (text == "json")
      out_.output = Output::json;
    else
      return usage("unknown output format " + cronlatch::quoted(text) +
                   "; there are table, wide, json");
    return Done{};
  }

  Result<Arguments> checked() {
    if (help_ || out_.verb == Verb::help) return out_;
    if (verb_ != nullptr && verb_->named && out_.name.empty())
      return usage(std::string(verb_->name) + " needs the name of a CronJob" +
                   (out_.verb == Verb::release ? " or a lock" : ""));
    if (out_.verb == Verb::uninstall_check && !out_.namespace_name.empty())
      return usage("uninstall-check looks at all namespaces; leave -n out");
    if (out_.remove && out_.verb != Verb::uninstall_check)
      return usage("--remove is for uninstall-check");
    if (out_.all_namespaces && out_.verb != Verb::ls && out_.verb != Verb::uninstall_check)
      return usage("-A is for ls; " + std::string(verb_->name) + " is about one namespace: -n");
    return out_;
  }

  std::span<const std::string> words_;
  std::size_t at_ = 0;
  const VerbRow* verb_ = nullptr;
  bool help_ = false;
  std::string flag_;
  std::optional<std::string> inline_;
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
