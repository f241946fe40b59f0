// SPDX-License-Identifier: Apache-2.0
// The table of the operator's settings, and the parser of their file.
#include "admission/settings.h"

#include <algorithm>
#include <iterator>

#include "admission/setting_fields.h"
#include "admission/settings_checks.h"
#include "base/text.h"

namespace cronlatch::op {
namespace {

constexpr char kFile[] = "settings";

using S = Settings;
struct Row {
  std::string_view key;
  SettingField field;
  std::string_view fallback;
  std::string_view limits;  // "1s to 5m", "own, files": enforced; "" where a check below does it
  std::string_view help;
};

// key, field, default, limits, help
// clang-format off
constexpr Row kRows[] = {
    {"admission-address", &S::admission_address, "[::]:8443", "", "address of the admission hooks for the API server (HTTPS)"},
    {"plain-address", &S::plain_address, "[::]:8080", "", "address of /healthz, /readyz, /metrics and /status (HTTP)"},
    {"metrics-auth", &S::metrics_auth, "none", "none, token", "token: /metrics and /status are served at metrics-address instead, to clients with a token that the API server accepts"},
    {"metrics-address", &S::metrics_address, "[::]:8444", "", "address of /metrics and /status with metrics-auth: token (HTTPS)"},
    {"namespace", &S::namespace_name, "cronlatch", "", "the operator's namespace; the variable POD_NAMESPACE takes precedence"},
    {"name", &S::name, "cronlatch", "", "base name of the operator's objects"},
    {"cluster-name", &S::cluster_name, "", "", "name of this cluster in holders; empty: the first 8 digits of the UID of the namespace kube-system"},
    {"image", &S::image, "", "", "image that contains the wrapper; required"},
    {"image-pull-policy", &S::image_pull_policy, "IfNotPresent", "Always, IfNotPresent, Never", "pull policy of that image"},
    {"injection", &S::injection, "init-container", "auto, image-volume, init-container", "how gated pods get the wrapper: the image is mounted, or an init container copies it; auto: mounted while every schedulable node is proven to support it"},
    {"image-pull-secrets", &S::image_pull_secrets, "[]", "", "Secrets that are added to imagePullSecrets of a gated pod"},
    {"resources", &S::resources, "{}", "", "requests and limits of the init container; empty: 50m and 32Mi of each"},
    {"store", &S::store, "", "", "URL of the store of every gated run (the [schemes](options.md#the-store)); without it, every request for a lock is refused"},
    {"store-secret", &S::store_secret, "cronlatch-store", "", "Secret in a Job's namespace with the credentials for the store, unless an annotation names another"},
    {"store-ca-config-map", &S::store_ca_config_map, "", "", "ConfigMap in a Job's namespace whose CA certificates replace ca.crt of the Secret"},
    {"store-ca-key", &S::store_ca_key, "ca.crt", "", "key of the CA certificates (PEM) in that ConfigMap"},
    {"defaults", &S::defaults, "{}", "", "options of every gated run; an annotation of the same option takes precedence"},
    {"cluster-lock-namespaces", &S::cluster_lock_namespaces, "[]", "", "namespaces that may use lock-scope: cluster"},
    {"image-index", &S::image_index, "{}", "", "image -> ENTRYPOINT (and CMD), for containers without a command"},
    {"lookup", &S::lookup, "false", "true, false", "read the command of a container without one from the registry of its image"},
    {"lookup-registries", &S::lookup_registries, "[]", "", "registries that may be queried: host or host:port, exactly; http://host:port for one without TLS"},
    {"lookup-timeout", &S::lookup_timeout, "15s", "1s to 5m", "limit for the lookup of one image"},
    {"lookup-cache-size", &S::lookup_cache_size, "10000", "1 to 1000000", "number of images in the cache"},
    {"lookup-pin", &S::lookup_pin, "false", "true, false", "a gated Job runs the image whose command was read, by digest"},
    {"lookup-architectures", &S::lookup_architectures, "[amd64, arm64]", "", "architectures of the nodes, for pods that do not select one"},
    {"lookup-docker-config", &S::lookup_docker_config, "", "", "file in the format of docker's config.json with logins; read at each lookup"},
    {"lookup-pull-secret-namespaces", &S::lookup_pull_secret_namespaces, "[]", "", "namespaces whose Jobs' imagePullSecrets are read for logins"},
    {"lookup-ca-file", &S::lookup_ca_file, "", "", "PEM: authorities of registries, in addition to the system's"},
    {"lookup-program", &S::lookup_program, "/usr/bin/skopeo", "", "program that reads from registries"},
    {"select", &S::select, "[]", "", "CronJobs that the platform gates: namespace, name, labels, annotations (without prefix)"},
    {"namespaces", &S::namespaces, "[]", "", "namespaces that the operator serves; empty: all"},
    {"certificate-mode", &S::certificate_mode, "own", "own, files", "own: the operator creates and renews it; files: read from certificate-dir"},
    {"certificate-dir", &S::certificate_dir, "/etc/cronlatch/tls", "", "tls.crt, tls.key, ca.crt in mode files"},
    {"credentials-dir", &S::credentials_dir, "/etc/cronlatch/store", "", "the operator's credentials for the store"},
    {"patch-cronjobs", &S::patch_cronjobs, "true", "true, false", "false: the leader reports missing copies of annotations and patches no CronJob"},
    {"copy-secret-source", &S::copy_secret_source, "", "", "Secret of the operator's namespace that is copied as store-secret"},
    {"copy-secret-namespaces", &S::copy_secret_namespaces, "[]", "", "namespaces that receive the copy"},
    {"events-skip", &S::events_skip, "[]", "", "[reasons](events.md) whose Events are not written"},
    {"events-per-second", &S::events_per_second, "50", "1 to 10000", "Events of each [group](events.md#limits) that are written per second, and half of them in one namespace; a burst is that of 200 seconds"},
    {"lock-histograms", &S::lock_histograms, "false", "true, false", "export the [histograms of locks](metrics.md#of-a-lock), 27 more series for each lock"},
    {"store-server", &S::store_server, "false", "true, false", "the store is the Redis of the chart: the leader creates its certificate, users and passwords, and writes store-secret"},
    {"store-server-namespaces", &S::store_server_namespaces, "[]", "", "namespaces that may use that Redis, besides the operator's"},
    {"store-server-namespace-labels", &S::store_server_namespace_labels, "{}", "", "namespaces with all these labels may use it, too"},
    {"log-format", &S::log_format, "json", "text, json, logfmt", "format of the log lines"},
    {"log-level", &S::log_level, "info", "error, warn, info, debug", "lowest level that is logged"},
    {"client-ca-file", &S::client_ca_file, "", "", "PEM: only clients with a certificate of these authorities may request admissions; read at the start"},
};
// clang-format on

const Row* find_row(std::string_view key) {
  const auto row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.key == key; });
  return row == std::end(kRows) ? nullptr : row;
}

std::string place(int line) { return std::string(kFile) + ":" + std::to_string(line) + ": "; }

Error unknown_key(const YamlEntry& entry) {
  std::string_view best;
  std::size_t best_distance = (std::min<std::size_t>(entry.key.size(), 100) + 2) / 3 + 1;
  for (const Row& row : kRows) {
    const std::size_t distance = edit_distance(entry.key.substr(0, 100), row.key);
    if (distance >= best_distance) continue;
    best = row.key;
    best_distance = distance;
  }
  return {Code::usage, place(entry.line) + "unknown key " + cronlatch::quoted(entry.key),
          best.empty() ? "docs/reference/operator.md lists all keys"
                       : "did you mean " + std::string(best) + "?"};
}

bool is_word_of(std::string_view limits, std::string_view text) {
  return (", " + std::string(limits) + ", ").find(", " + std::string(text) + ", ") !=
         std::string::npos;
}

// The other kinds of fields check their words when they are read.
Status check_limits(const Settings& settings, const Row& row) {
  if (row.limits.empty()) return Done{};
  const Error refused{Code::config, "not within the limits",
                      "allowed is " + std::string(row.limits)};
  if (const auto* const text = std::get_if<std::string S::*>(&row.field))
    return is_word_of(row.limits, settings.**text) ? Status(Done{}) : refused;
  if (const auto* const time = std::get_if<Millis S::*>(&row.field))
    return is_in_range(row.limits, settings.**time) ? Status(Done{}) : refused;
  if (const auto* const number = std::get_if<std::size_t S::*>(&row.field))
    return is_in_range(row.limits, settings.**number) ? Status(Done{}) : refused;
  return Done{};
}

// Adds the line of the key that the message starts with.
Error with_line(const YamlNode& root, const Error& error) {
  const std::string key = error.message.substr(0, error.message.find_first_of(":["));
  const auto entry = std::find_if(root.entries.begin(), root.entries.end(),
                                  [&](const YamlEntry& e) { return e.key == key; });
  return {error.code, place(entry == root.entries.end() ? 1 : entry->line) + error.message,
          error.hint};
}

}  // namespace

// A test shows that every default is accepted.
Settings::Settings() {
  for (const Row& row : kRows) {
    if (row.fallback.empty()) continue;
    if (const auto* const text = std::get_if<std::string S::*>(&row.field)) {
      this->** text = row.fallback;  // "[::]:8443" would be a list in YAML
    } else if (const Result<YamlNode> node = read_yaml(kFile, std::string(row.fallback));
               node.ok()) {
      (void)read_field(*this, row.field, *node).ok();
    }
  }
}

Result<Settings> parse_settings(std::string_view yaml) {
  const Result<YamlNode> root = read_yaml(kFile, std::string(yaml));
  if (!root.ok()) return root.error();
  if (root->kind != YamlNode::Kind::map && root->kind != YamlNode::Kind::null)
    return Error{Code::config, place(root->line) + "the settings are not a map",
                 "write lines like store: rediss://redis.db:6379"};
  Settings settings;
  for (const YamlEntry& entry : root->entries) {
    const Row* const row = find_row(entry.key);
    if (row == nullptr) return unknown_key(entry);
    Status status = read_field(settings, row->field, entry.value);
    if (status.ok()) status = check_limits(settings, *row);
    if (!status.ok())
      return Error{Code::config, place(entry.line) + entry.key + ": " + status.error().message,
                   status.error().hint};
  }
  if (Status checked = check_settings(settings); !checked.ok())
    return with_line(*root, checked.error());
  return settings;
}

std::vector<SettingRow> setting_rows() {
  std::vector<SettingRow> rows;
  for (const Row& row : kRows) rows.push_back({row.key, row.fallback, row.limits, row.help});
  return rows;
}

}  // namespace cronlatch::op
