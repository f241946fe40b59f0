// SPDX-License-Identifier: Apache-2.0
// What the platform's engineers decide once for the operator: the chart renders it into a ConfigMap
// as YAML, and settings.cc reads it (unknown and duplicate keys are errors that name the line and
// the nearest key). Tenants decide by annotations (annotations.h); nothing here can be changed by
// one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/json.h"
#include "options/options.h"

namespace cronlatch::op {

// A CronJob chosen by the platform instead of by an annotation: charts of others often leave no
// place for one.
struct Selection {
  std::string namespace_name;                 // exact
  std::string name;                           // with * and ?; empty: any
  std::map<std::string, std::string> labels;  // all of them must be there
  std::map<std::string, std::string>
      annotations;  // as if they stood on the CronJob: lock, ttl, ... (keys without prefix)
};

enum class CertificateMode {
  own,    // an own CA and leaf, made and renewed by the leader in a Secret
  files,  // somebody else (cert-manager, the platform) renews the files in `certificate_dir`
};

struct Settings {
  // Where we listen. `[::]:8443` serves both families.
  std::string admission_address = "[::]:8443";
  std::string plain_address = "[::]:8080";   // /healthz /readyz /metrics /status
  std::string namespace_name = "cronlatch";  // our own; the variable POD_NAMESPACE goes before
  std::string name =
      "cronlatch";  // base name of our objects: Service, webhook configurations, Lease, Secret

  // What is injected.
  std::string image;  // the image that holds the wrapper
  std::string image_pull_policy = "IfNotPresent";
  std::vector<std::string> image_pull_secrets;   // appended to the pod's
  kube::Json resources;                          // of the init container; null: small ones of ours
  std::string store;                             // URL that every gated run uses
  std::string store_secret = "cronlatch-store";  // default of the annotation store-secret
  // Option key -> text: defaults below a tenant's annotations (annotatable keys), and store
  // settings (key-prefix, tls-server-name, connect-timeout, ...) that no annotation can change.
  std::map<std::string, std::string> defaults;
  std::vector<std::string> cluster_lock_namespaces;             // may use lock-scope: cluster
  std::map<std::string, std::vector<std::string>> image_index;  // image reference -> its ENTRYPOINT
  std::vector<Selection> select;

  // What a container without a command runs, asked of the image's registry: docs/kubernetes.md.
  bool lookup = false;
  std::vector<std::string> lookup_registries;  // image::parse_listed_registry reads each
  Millis lookup_timeout{15'000};               // of one image, whatever it takes to read it
  std::size_t lookup_cache_size = 10'000;      // images
  bool lookup_pin = false;                     // a gated Job runs the very image that was looked at
  // Of the nodes, where a pod does not say.
  std::vector<std::string> lookup_architectures = {"amd64", "arm64"};
  std::string lookup_docker_config;                        // a docker config.json with logins
  std::vector<std::string> lookup_pull_secret_namespaces;  // where a Job's own logins may be read
  std::string lookup_ca_file;                              // PEM: authorities besides the system's
  std::string lookup_program = "/usr/bin/skopeo";

  // How we keep house.
  CertificateMode certificate_mode = CertificateMode::own;
  std::string certificate_dir = "/etc/cronlatch/tls";    // tls.crt, tls.key, ca.crt in mode `files`
  std::string credentials_dir = "/etc/cronlatch/store";  // our own access to the store's ledger
  bool patch_cronjobs = true;  // false: observe, and only say what is missing
  // Secret `source` of our namespace is copied into each of `namespaces` under the name of
  // store_secret.
  std::string copy_secret_source;
  std::vector<std::string> copy_secret_namespaces;
  LogFormat log_format = LogFormat::json;
  Level log_level = Level::info;
  // PEM file: the admission hooks serve only clients with a certificate of these authorities, as an
  // API server with a kubeconfig for webhooks has one. Empty: no certificate is asked for.
  std::string client_ca_file;
};

// The YAML's text; the error names line, key, what is wrong and how to fix it.
Result<Settings> parse_settings(std::string_view yaml);
// The same rows as the parser uses, for docs/reference/operator.md and the chart's schema: key,
// default, meaning.
struct SettingRow {
  std::string_view key, fallback, help;
};
std::vector<SettingRow> setting_rows();

}  // namespace cronlatch::op
