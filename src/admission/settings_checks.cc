// SPDX-License-Identifier: Apache-2.0
#include "admission/settings_checks.h"

#include <algorithm>
#include <array>

#include "admission/lock_request.h"
#include "base/host_port.h"
#include "base/text.h"
#include "core/store_url.h"
#include "image/reference.h"
#include "image/registry_policy.h"
#include "labels/event_reasons.h"
#include "labels/holder.h"

namespace cronlatch::op {
namespace {

Status check_texts(const Settings& settings) {
  if (settings.image.empty())
    return Error{Code::config, "image: the setting is missing", "set the operator's image"};
  if (const auto parsed = image::parse_reference(settings.image); !parsed.ok())
    return Error{Code::config,
                 "image: " + cronlatch::quoted(settings.image, image::kMaxShownName) +
                     " is not the name of an image: " + parsed.error().message,
                 parsed.error().hint};
  for (const auto& [key, address] : {std::pair{"admission-address", settings.admission_address},
                                     std::pair{"plain-address", settings.plain_address},
                                     std::pair{"metrics-address", settings.metrics_address}})
    if (const Result<HostPort> parsed = parse_host_port(address, 0); !parsed || !parsed->port)
      return Error{
          Code::config,
          std::string(key) + ": " + cronlatch::quoted(address) + " is not an address with a port",
          "write for example \"[::]:8443\""};
  if (!settings.cluster_name.empty() && !is_cluster_name(settings.cluster_name))
    return Error{Code::config,
                 "cluster-name: " + cronlatch::quoted(settings.cluster_name) +
                     " is not a name of at most 63 letters, digits, '-', '.' and '_'",
                 "write for example eu-1"};
  return Done{};
}

Status check_store(const Settings& settings) {
  if (settings.store.empty()) return Done{};
  if (Status text = check_store_url(settings.store); !text.ok())
    return Error{Code::config, "store: " + text.error().message, text.error().hint};
  const Result<StoreUrl> url = parse_store_url(settings.store);
  if (!url->postgres || url->postgres->sslmode != SslMode::disable) return Done{};
  for (const char* key : {"tls-server-name", "tls-skip-verify"})
    if (const auto given = settings.defaults.find(key);
        given != settings.defaults.end() && given->second != "false")
      return Error{Code::config,
                   "defaults: " + std::string(key) + ": the store has sslmode=disable, without TLS",
                   "remove sslmode=disable from store, or remove the option"};
  return Done{};
}

// The operator creates the logins and the certificate of this store itself.
Status check_store_server(const Settings& settings) {
  if (!settings.store_server) return Done{};
  const Result<StoreUrl> url = parse_store_url(settings.store);
  if (!url || url->postgres || url->layout != StoreLayout::single ||
      url->transport != StoreTransport::tls)
    return Error{Code::config,
                 "store-server: store is " + cronlatch::quoted(settings.store) +
                     ", and the Redis of the chart is one server with TLS",
                 "set store to rediss://HOST:PORT, or set store-server to false"};
  if (!settings.copy_secret_source.empty())
    return Error{Code::config, "store-server: copy-secret-source is set, too",
                 "remove copy-secret-source: the operator writes store-secret itself"};
  for (const char* key : {"redis-username", "tls-server-name", "tls-skip-verify", "strict"})
    if (const auto given = settings.defaults.find(key);
        given != settings.defaults.end() && given->second != "false")
      return Error{Code::config,
                   "defaults: " + std::string(key) +
                       ": does not apply to the Redis of the chart (store-server)",
                   "remove the option"};
  return Done{};
}

Status check_lookup(const Settings& settings) {
  for (const std::string& line : settings.lookup_registries)
    if (const auto listed = image::parse_listed_registry(line); !listed.ok())
      return Error{Code::config, "lookup-registries: " + listed.error().message,
                   listed.error().hint};
  if (settings.lookup && settings.lookup_architectures.empty())
    return Error{Code::config, "lookup-architectures: the list is empty",
                 "write for example [amd64]"};
  if (settings.lookup && !settings.lookup_program.starts_with('/'))
    return Error{Code::config,
                 "lookup-program: " + cronlatch::quoted(settings.lookup_program) +
                     " is not an absolute path",
                 "write /usr/bin/skopeo"};
  return Done{};
}

Status check_defaults(const Settings& settings) {
  Options options;
  for (const auto& [key, value] : settings.defaults) {
    if (Status checked = check_default(key, value); !checked.ok())
      return Error{Code::config, "defaults: " + checked.error().message, checked.error().hint};
    (void)apply_text(options, *find_option(key), value).ok();
  }
  options.store = settings.store;
  if (Status valid = validate(options); !valid.ok())
    return Error{Code::config, "defaults: " + valid.error().message, valid.error().hint};
  return Done{};
}

Status check_selections(const Settings& settings) {
  for (std::size_t i = 0; i < settings.select.size(); ++i) {
    const Selection& selection = settings.select[i];
    const std::string where = "select[" + std::to_string(i) + "]";
    if (selection.namespace_name.empty())
      return Error{Code::config, where + ": the namespace is missing", "set namespace"};
    if (!settings.namespaces.empty() &&
        std::find(settings.namespaces.begin(), settings.namespaces.end(),
                  selection.namespace_name) == settings.namespaces.end())
      return Error{Code::config,
                   where + ": namespace " + selection.namespace_name + " is not in namespaces",
                   "add it to namespaces, or remove the rule"};
    // The chart renders the pattern into ValidatingAdmissionPolicies, which support these
    // characters only.
    if (selection.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.*?") !=
        std::string::npos)
      return Error{Code::config,
                   where + ": name " + cronlatch::quoted(selection.name) +
                       " has a character that is not allowed",
                   "use lower-case letters, digits, '-', '.', '*' and '?'"};
    if (selection.annotations.count("lock") == 0)
      return Error{Code::config, where + ": the annotation lock is missing",
                   "write for example annotations: {lock: \"true\"}"};
    Annotations annotations;
    for (const auto& [key, value] : selection.annotations)
      annotations[key] = {value, where + ".annotations[" + key + "]"};
    Findings findings;
    (void)read_lock_request(annotations, settings, selection.namespace_name, findings);
    if (!findings.empty()) return Error{Code::config, findings.error().message};
  }
  return Done{};
}

Status check_lists(const Settings& settings) {
  for (const auto& [image, command] : settings.image_index)
    if (command.empty() || command.front().empty())
      return Error{Code::config, "image-index: " + cronlatch::quoted(image) + " has no command",
                   "write its ENTRYPOINT, for example [/bin/report]"};
  if (!settings.copy_secret_source.empty() && settings.copy_secret_namespaces.empty())
    return Error{Code::config, "copy-secret-source: copy-secret-namespaces is empty",
                 "list the namespaces in copy-secret-namespaces"};
  return Done{};
}

Status check_events(const Settings& settings) {
  for (const std::string& name : settings.events_skip) {
    const EventReason& reason = event_reason(name);
    if (reason.is_required)
      return Error{Code::config, "events-skip: " + name + " is always written",
                   "remove it: the next leader reads from this Event that the Job is counted"};
    if (reason.name.empty())
      return Error{Code::config,
                   "events-skip: " + cronlatch::quoted(name) + " is not the reason of an Event",
                   "allowed is " + optional_event_reasons()};
  }
  return Done{};
}

}  // namespace

Status check_default(const std::string& key, const std::string& value) {
  const Option* const option = find_option(key);
  if (option == nullptr) {
    const std::string near(nearest_option(key));
    return Error{Code::usage, "unknown option " + cronlatch::quoted(key),
                 near.empty() ? "" : "did you mean " + near + "?"};
  }
  if (!option->cluster_default)
    return Error{Code::usage, key + " cannot be set for all runs", "remove it"};
  Options scratch;
  return set_option(scratch, *option, value);
}

Status check_settings(const Settings& settings) {
  for (const auto check : {check_texts, check_store, check_store_server, check_lookup,
                           check_defaults, check_selections, check_lists, check_events})
    if (Status checked = check(settings); !checked.ok()) return checked;
  return Done{};
}

}  // namespace cronlatch::op
