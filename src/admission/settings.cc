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
  std::string_view help;
};

// clang-format off
const Row kRows[] = {
    {"admission-address", &S::admission_address, "[::]:8443", "address of the admission hooks, which the API server calls (HTTPS)"},
    {"plain-address", &S::plain_address, "[::]:8080", "/healthz, /readyz, /metrics and /status (HTTP)"},
    {"namespace", &S::namespace_name, "cronlatch", "the operator's namespace; the variable POD_NAMESPACE takes precedence"},
    {"name", &S::name, "cronlatch", "base name of the operator's objects"},
    {"image", &S::image, "", "the image with the wrapper; required"},
    {"image-pull-policy", &S::image_pull_policy, "IfNotPresent", "imagePullPolicy of the init container: Always, IfNotPresent, Never"},
    {"image-pull-secrets", &S::image_pull_secrets, "[]", "Secrets added to a gated pod's imagePullSecrets"},
    {"resources", &S::resources, "{}", "resources of the init container: requests and limits; empty: cpu 50m and memory 32Mi for both"},
    {"store", &S::store, "", "URL of the store that every gated run uses; without it, Jobs and CronJobs that request a lock are denied"},
    {"store-secret", &S::store_secret, "cronlatch-store", "Secret in a Job's namespace with the store's credentials, where no annotation names one"},
    {"defaults", &S::defaults, "{}", "options of every gated run; an annotation takes precedence where it may set the option"},
    {"cluster-lock-namespaces", &S::cluster_lock_namespaces, "[]", "namespaces that may use lock-scope: cluster"},
    {"image-index", &S::image_index, "{}", "image -> ENTRYPOINT (and CMD), for containers without a command"},
    {"lookup", &S::lookup, "false", "read the command of a container without one from its image's registry"},
    {"lookup-registries", &S::lookup_registries, "[]", "registries that may be queried, as host or host:port; http://host:port for one without TLS"},
    {"lookup-timeout", &S::lookup_timeout, "15s", "timeout of one lookup, 1s to 5m"},
    {"lookup-cache-size", &S::lookup_cache_size, "10000", "images in the cache, 1 to 1000000"},
    {"lookup-pin", &S::lookup_pin, "false", "pin a gated Job to the digest of the image that was looked up"},
    {"lookup-architectures", &S::lookup_architectures, "[amd64, arm64]", "architectures of the nodes, for pods that do not restrict them"},
    {"lookup-docker-config", &S::lookup_docker_config, "", "file with logins in the format of docker's config.json; read at each lookup"},
    {"lookup-pull-secret-namespaces", &S::lookup_pull_secret_namespaces, "[]", "namespaces whose Jobs' imagePullSecrets are read for logins"},
    {"lookup-ca-file", &S::lookup_ca_file, "", "PEM file: CAs of registries, in addition to the system's"},
    {"lookup-program", &S::lookup_program, "/usr/bin/skopeo", "path of skopeo, the client of registries"},
    {"select", &S::select, "[]", "CronJobs that the platform gates: namespace, name, labels, annotations (without prefix)"},
    {"certificate-mode", &S::certificate_mode, "own", "own: created and renewed by the operator; files: read from certificate-dir"},
    {"certificate-dir", &S::certificate_dir, "/etc/cronlatch/tls", "tls.crt, tls.key, ca.crt in mode files"},
    {"credentials-dir", &S::credentials_dir, "/etc/cronlatch/store", "the operator's credentials for the store"},
    {"patch-cronjobs", &S::patch_cronjobs, "true", "false: the reconciler only reports what is missing"},
    {"copy-secret-source", &S::copy_secret_source, "", "Secret of the operator's namespace that is copied as store-secret"},
    {"copy-secret-namespaces", &S::copy_secret_namespaces, "[]", "namespaces to which it is copied"},
    {"log-format", &S::log_format, "json", "text, json, logfmt"},
    {"log-level", &S::log_level, "info", "error, warn, info, debug"},
    {"client-ca-file", &S::client_ca_file, "", "PEM file: the admission hooks accept only clients with a certificate of these CAs; read at the start"},
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

// Adds the line of the key that the message starts with.
Error with_line(const YamlNode& root, const Error& error) {
  const std::string key = error.message.substr(0, error.message.find_first_of(":["));
  const auto entry = std::find_if(root.entries.begin(), root.entries.end(),
                                  [&](const YamlEntry& e) { return e.key == key; });
  return {error.code, place(entry == root.entries.end() ? 1 : entry->line) + error.message,
          error.hint};
}

}  // namespace

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
    const Status status = read_field(settings, row->field, entry.value);
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
  for (const Row& row : kRows) rows.push_back({row.key, row.fallback, row.help});
  return rows;
}

}  // namespace cronlatch::op
