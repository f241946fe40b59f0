// SPDX-License-Identifier: Apache-2.0
#include "admission/lock_request.h"

#include <algorithm>

#include "admission/annotation_table.h"
#include "base/text.h"

namespace cronlatch::op {
namespace {

std::string for_example(std::string_view key) { return "write for example " + example_of(key); }

// The hint before the example of the annotation, unless the hint is an example itself.
std::string with_example(const std::string& hint, std::string_view key) {
  const bool is_rule = !hint.empty() && !hint.starts_with("write ");
  return (is_rule ? hint + "; " : "") + for_example(key);
}

// The message contains the value, so it can be long.
Finding invalid_value(const Annotation& annotation, const Error& error, std::string_view key) {
  constexpr std::size_t kLongest = 90;
  const std::string fix = with_example(error.hint, key);
  if (error.message.size() <= kLongest) return {annotation.where, error.message, fix};
  return {annotation.where, "the value is invalid", for_example(key), error.message};
}

bool is_dns_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

// A DNS subdomain (RFC 1123). Some invalid names pass; the API server rejects those.
bool is_object_name(std::string_view name) {
  return !name.empty() && name.size() <= 253 &&
         std::all_of(name.begin(), name.end(), is_dns_character) && name.front() != '-' &&
         name.front() != '.' && name.back() != '-' && name.back() != '.';
}

class LockRequestReader {
 public:
  LockRequestReader(const Annotations& annotations, const Settings& settings,
                    std::string_view namespace_name, Findings& findings)
      : annotations_(annotations),
        settings_(settings),
        namespace_(namespace_name),
        findings_(findings) {}

  LockRequest read() {
    check_keys(annotations_, findings_);
    request_.store_secret = settings_.store_secret;
    apply_platform_defaults();
    read_options();
    read_scope();
    read_lock();
    read_extras();
    check_timings();
    return std::move(request_);
  }

 private:
  const Annotation* find(std::string_view key) const {
    const auto at = annotations_.find(key);
    return at == annotations_.end() ? nullptr : &at->second;
  }

  // They were checked when the settings were parsed.
  void apply_platform_defaults() {
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
      if (!applied.ok()) findings_.add(invalid_value(*annotation, applied.error(), option.key));
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
                    cronlatch::quoted(annotation->value) + " is not one of namespace, cluster",
                    for_example("lock-scope"));
    else if (std::find(allowed.begin(), allowed.end(), namespace_) == allowed.end())
      findings_.add(
          annotation->where,
          "namespace " + cronlatch::quoted(namespace_) + " may not use locks with cluster scope",
          "user: remove the annotation; platform: add the namespace to clusterLockNamespaces");
  }

  void read_lock() {
    const Annotation* const annotation = find("lock");
    if (annotation == nullptr) return;
    const std::string& value = annotation->value;
    request_.lock_where = annotation->where;
    request_.gate = value == "false" ? Gate::off : Gate::on;
    if (value == "false") return;
    if (value == "true") {
      if (request_.scope == LockScope::cluster)
        findings_.add(annotation->where, "a lock with cluster scope needs a name",
                      "write for example cronlatch.dev/lock: \"nightly-report\"");
      return;
    }
    request_.has_invalid_lock = true;
    if (value.empty() || is_yes_or_no(value)) {
      findings_.add(annotation->where,
                    cronlatch::quoted(value) + " is not \"true\", \"false\" or a lock name",
                    for_example("lock"));
      return;
    }
    request_.lock = value;
    const Result<std::string> name = full_lock_name(request_.scope, std::string(namespace_), value);
    request_.has_invalid_lock = !name.ok();
    if (!name.ok()) findings_.add(invalid_value(*annotation, name.error(), "lock"));
  }

  void read_extras() {
    if (const Annotation* const a = find("once-per-schedule")) {
      request_.once_per_schedule = a->value == "true";
      if (a->value != "true" && a->value != "false")
        findings_.add(a->where, cronlatch::quoted(a->value) + " is not one of true, false",
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
        findings_.add(a->where, cronlatch::quoted(a->value) + " is not a valid name of a Secret",
                      for_example("store-secret"));
    }
    if (const Annotation* const a = find("alert-after")) read_alert(*a);
  }

  void read_command(const Annotation& annotation) {
    request_.command_where = annotation.where;
    const Result<std::vector<std::string>> words = parse_json_strings(annotation.value);
    if (!words.ok()) {
      findings_.add(invalid_value(annotation, words.error(), "command"));
      return;
    }
    if (words->empty() || words->front().empty())
      findings_.add(annotation.where, "the array has no command", for_example("command"));
    else
      request_.command = *words;
  }

  void read_alert(const Annotation& annotation) {
    if (annotation.value == "off") {
      request_.alerts_when_overdue = false;
      return;
    }
    const Result<Millis> after = parse_duration(annotation.value);
    if (!after.ok())
      findings_.add(invalid_value(annotation, after.error(), "alert-after"));
    else if (*after < kLeastAlertAfter)
      findings_.add(annotation.where,
                    cronlatch::quoted(annotation.value) + " is below the minimum of 1m",
                    for_example("alert-after"));
    else
      request_.alert_after = *after;
  }

  // Checks the timings together. The finding names the annotation that most likely has to change.
  void check_timings() {
    if (!findings_.empty()) return;
    Options all = request_.options;
    all.store = settings_.store;
    const Status valid = validate(all);
    if (valid.ok()) return;
    const auto& [code, message, hint] = valid.error();
    const std::size_t end = message.find(": ");
    // The message begins with the option that is wrong, or the calculation follows.
    if (const Annotation* const annotation = find(message.substr(0, end))) {
      findings_.add(annotation->where, message, hint);
      return;
    }
    for (const std::string_view key : {"ttl", "kill-after", "lock"}) {
      const Annotation* const annotation = find(key);
      if (annotation == nullptr) continue;
      findings_.add(annotation->where, message.substr(0, end), with_example(hint, "ttl"),
                    end == std::string::npos ? "" : message.substr(end + 2));
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
  return LockRequestReader(annotations, settings, namespace_name, findings).read();
}

}  // namespace cronlatch::op
