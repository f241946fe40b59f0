// SPDX-License-Identifier: Apache-2.0
#include "admission/lock_request.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/lock_name.h"

namespace cronlatch::op {
namespace {

// Cluster-wide locks live below a name that no namespace can have.
constexpr std::string_view kClusterLocks = "_cluster/";

// What people write for yes and no. None of them becomes a lock's name: two teams that both mean
// "on" must not share a lock called on.
constexpr std::array<std::string_view, 16> kYesAndNo = {
    "true", "false", "yes", "no", "on",     "off",     "y",       "n",
    "t",    "f",     "1",   "0",  "enable", "enabled", "disable", "disabled"};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string for_example(std::string_view key) { return "write for example " + example_of(key); }

std::string join_hint(const std::string& hint, const std::string& more) {
  return hint.empty() ? more : hint + "; " + more;
}

bool is_dns_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

// RFC 1123 as Kubernetes has it, roughly: the API server has the last word.
bool is_object_name(std::string_view name) {
  return !name.empty() && name.size() <= 253 &&
         std::all_of(name.begin(), name.end(), is_dns_character) && name.front() != '-' &&
         name.front() != '.' && name.back() != '-' && name.back() != '.';
}

class Reader {
 public:
  Reader(const Annotations& annotations, const Settings& settings, std::string_view namespace_name,
         Findings& findings)
      : annotations_(annotations),
        settings_(settings),
        namespace_(namespace_name),
        findings_(findings) {}

  LockRequest read() {
    find_unknown(annotations_, findings_);
    request_.store_secret = settings_.store_secret;
    lay_platform_defaults();
    read_options();
    read_scope();
    read_lock();
    read_extras();
    check_together();
    return std::move(request_);
  }

 private:
  const Annotation* find(std::string_view key) const {
    const auto at = annotations_.find(key);
    return at == annotations_.end() ? nullptr : &at->second;
  }

  // Settings were checked when they were read.
  void lay_platform_defaults() {
    for (const auto& [key, value] : settings_.defaults) {
      const Option* const option = find_option(key);
      if (option == nullptr || !apply_text(request_.options, *option, value).ok()) continue;
      request_.decided.insert(key);
    }
  }

  void read_options() {
    for (const Option& option : option_table()) {
      if (!option.annotatable() || option.key == "lock") continue;
      const Annotation* const annotation = find(option.key);
      if (annotation == nullptr) continue;
      const Status applied = apply_text(request_.options, option, annotation->value);
      if (!applied.ok())
        findings_.add(annotation->where, applied.error().message,
                      join_hint(applied.error().hint, for_example(option.key)));
      request_.decided.insert(std::string(option.key));
      request_.annotated.insert(std::string(option.key));
    }
  }

  void read_scope() {
    const Annotation* const annotation = find("lock-scope");
    if (annotation == nullptr || annotation->value == "namespace") return;
    request_.scope = LockScope::cluster;
    const auto& allowed = settings_.cluster_lock_namespaces;
    if (annotation->value != "cluster")
      findings_.add(annotation->where,
                    cronlatch::quoted(annotation->value) + " is neither namespace nor cluster",
                    for_example("lock-scope"));
    else if (std::find(allowed.begin(), allowed.end(), namespace_) == allowed.end())
      findings_.add(
          annotation->where,
          "namespace " + cronlatch::quoted(namespace_) + " may not take locks of the whole cluster",
          "leave it out, or ask for the namespace to be added to the operator's "
          "cluster-lock-namespaces");
  }

  void read_lock() {
    const Annotation* const annotation = find("lock");
    if (annotation == nullptr) return;
    const std::string& value = annotation->value;
    request_.gate = value == "false" ? Gate::off : Gate::on;
    if (value == "false") return;
    if (value == "true") {
      if (request_.scope == LockScope::cluster)
        findings_.add(annotation->where, "a lock of the whole cluster needs a name of its own",
                      "write for example cronlatch.dev/lock: \"nightly-report\"");
      return;
    }
    const std::string word = lower(value);
    if (value.empty() || std::find(kYesAndNo.begin(), kYesAndNo.end(), word) != kYesAndNo.end()) {
      findings_.add(annotation->where,
                    cronlatch::quoted(value) + " is neither \"true\", \"false\" nor a lock's name",
                    for_example("lock"));
      return;
    }
    request_.lock = value;
    const Result<std::string> name = full_lock_name(request_, std::string(namespace_), "");
    if (!name.ok())
      findings_.add(annotation->where, name.error().message,
                    join_hint(name.error().hint, for_example("lock")));
  }

  void read_extras() {
    if (const Annotation* const a = find("once-per-schedule")) {
      request_.once_per_schedule = a->value == "true";
      if (a->value != "true" && a->value != "false")
        findings_.add(a->where, cronlatch::quoted(a->value) + " is neither true nor false",
                      for_example("once-per-schedule"));
    }
    if (const Annotation* const a = find("container")) {
      request_.container = a->value;
      request_.container_where = a->where;
      if (a->value.empty()) findings_.add(a->where, "the value is empty", for_example("container"));
    }
    if (const Annotation* const a = find("command")) read_command(*a);
    if (const Annotation* const a = find("store-secret")) {
      request_.store_secret = a->value;
      if (!is_object_name(a->value))
        findings_.add(a->where, cronlatch::quoted(a->value) + " cannot be the name of a Secret",
                      for_example("store-secret"));
    }
    if (const Annotation* const a = find("alert-after")) read_alert(*a);
  }

  void read_command(const Annotation& annotation) {
    const Result<std::vector<std::string>> words = parse_json_strings(annotation.value);
    if (!words.ok()) {
      findings_.add(annotation.where, words.error().message,
                    join_hint(words.error().hint, for_example("command")));
      return;
    }
    if (words->empty() || words->front().empty())
      findings_.add(annotation.where, "the array names no command", for_example("command"));
    request_.command = *words;
  }

  void read_alert(const Annotation& annotation) {
    const Result<Millis> after = parse_duration(annotation.value);
    if (!after.ok())
      findings_.add(annotation.where, after.error().message,
                    join_hint(after.error().hint, for_example("alert-after")));
    else if (*after < Millis(60'000))
      findings_.add(annotation.where, cronlatch::quoted(annotation.value) + " is less than 1m",
                    for_example("alert-after"));
    else
      request_.alert_after = *after;
  }

  // Timings that cannot hold; named after the annotation that most likely changes it.
  void check_together() {
    if (!findings_.empty()) return;
    Options all = request_.options;
    all.store = settings_.store;
    const Status valid = validate(all);
    if (valid.ok()) return;
    for (const std::string_view key : {"ttl", "kill-after", "lock"}) {
      const Annotation* const annotation = find(key);
      if (annotation == nullptr) continue;
      findings_.add(annotation->where, valid.error().message,
                    join_hint(valid.error().hint, for_example("ttl")));
      return;
    }
  }

  const Annotations& annotations_;
  const Settings& settings_;
  std::string_view namespace_;
  Findings& findings_;
  LockRequest request_;
};

}  // namespace

LockRequest read_lock_request(const Annotations& annotations, const Settings& settings,
                              std::string_view namespace_name, Findings& findings) {
  return Reader(annotations, settings, namespace_name, findings).read();
}

Result<std::string> full_lock_name(const LockRequest& request, const std::string& namespace_name,
                                   const std::string& cronjob) {
  const std::string prefix =
      request.scope == LockScope::cluster ? std::string(kClusterLocks) : namespace_name + "/";
  const std::string name = prefix + (request.lock.empty() ? cronjob : request.lock);
  if (Status checked = check_lock_name(name); !checked.ok()) return checked.error();
  return name;
}

Status check_default(const std::string& key, const std::string& value) {
  const Option* const option = find_option(key);
  if (option == nullptr) {
    const std::string near(nearest_option(key));
    return Error{Code::usage, "unknown option " + cronlatch::quoted(key),
                 near.empty() ? "" : "did you mean " + near + "?"};
  }
  if (!option->cluster_default)
    return Error{Code::usage, key + " cannot be a default of all runs", "leave it out"};
  Options scratch;
  return set_option(scratch, *option, value);
}

}  // namespace cronlatch::op
