// SPDX-License-Identifier: Apache-2.0
// The operator's settings, from a YAML file that the chart renders into a ConfigMap. Unknown and
// duplicate keys are errors with the line and the nearest key. Annotations of tenants cannot change
// them (annotations.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/json.h"
#include "options/options.h"

namespace cronlatch::op {

// Gates CronJobs without annotations of their own: many public charts cannot set them.
struct Selection {
  std::string namespace_name;                 // exact
  std::string name;                           // with * and ?; "": any
  std::map<std::string, std::string> labels;  // the CronJob must have all of them
  std::map<std::string, std::string>
      annotations;  // as on the CronJob: lock, ttl, ... (keys without prefix)
};

enum class CertificateMode {
  own,    // the leader creates and renews a CA and a certificate in a Secret
  files,  // another program (cert-manager) renews the files in `certificate_dir`
};

struct Settings {
  // The addresses to listen on. `[::]:8443` is for IPv4 and IPv6.
  std::string admission_address = "[::]:8443";
  std::string plain_address = "[::]:8080";   // /healthz /readyz /metrics /status
  std::string namespace_name = "cronlatch";  // the variable POD_NAMESPACE takes precedence
  std::string name =
      "cronlatch";  // base name of the operator's Service, webhook configurations, Lease and Secret

  // What the rewrite injects.
  std::string image;  // the image that holds the wrapper
  std::string image_pull_policy = "IfNotPresent";
  std::vector<std::string> image_pull_secrets;  // appended to the pod's
  kube::Json resources;  // of the init container; null: the default of inject.cc
  std::string store;     // its URL
  std::string store_secret = "cronlatch-store";  // default of the annotation store-secret
  // Option key -> value. An annotation takes precedence where it may set the option; it cannot set
  // the options of the store (key-prefix, tls-server-name, connect-timeout, ...).
  std::map<std::string, std::string> defaults;
  std::vector<std::string> cluster_lock_namespaces;             // may use lock-scope: cluster
  std::map<std::string, std::vector<std::string>> image_index;  // image reference -> its ENTRYPOINT
  std::vector<Selection> select;

  // The lookup of a container's command in its image's registry: docs/kubernetes.md.
  bool lookup = false;
  std::vector<std::string> lookup_registries;  // in the format of parse_listed_registry()
  Millis lookup_timeout{15'000};               // of one image, with all its requests
  std::size_t lookup_cache_size = 10'000;      // images
  bool lookup_pin = false;  // a gated Job runs the image that was looked up, by digest
  // Of the nodes, for pods that do not restrict them.
  std::vector<std::string> lookup_architectures = {"amd64", "arm64"};
  std::string lookup_docker_config;                        // in the format of docker's config.json
  std::vector<std::string> lookup_pull_secret_namespaces;  // whose Jobs' pull secrets may be read
  std::string lookup_ca_file;                              // PEM: CAs in addition to the system's
  std::string lookup_program = "/usr/bin/skopeo";

  // The operator itself.
  CertificateMode certificate_mode = CertificateMode::own;
  std::string certificate_dir = "/etc/cronlatch/tls";    // tls.crt, tls.key, ca.crt in mode `files`
  std::string credentials_dir = "/etc/cronlatch/store";  // for the lock statistics in the store
  bool patch_cronjobs = true;                            // false: only report what is missing
  // The Secret copy_secret_source of the operator's namespace is copied to each of the namespaces,
  // with the name store_secret.
  std::string copy_secret_source;
  std::vector<std::string> copy_secret_namespaces;
  LogFormat log_format = LogFormat::json;
  Level log_level = Level::info;
  // PEM file: the admission hooks accept only clients with a certificate of these CAs, as an API
  // server with a kubeconfig for webhooks has. Empty: they request no client certificate.
  std::string client_ca_file;
};

// The error has line, key, what is wrong and the fix.
Result<Settings> parse_settings(std::string_view yaml);
// The table of the parser, for docs/reference/operator.md and the chart's schema.
struct SettingRow {
  std::string_view key, fallback, help;
};
std::vector<SettingRow> setting_rows();

}  // namespace cronlatch::op
