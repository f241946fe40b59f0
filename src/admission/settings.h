// SPDX-License-Identifier: Apache-2.0
// The operator's settings. The chart renders them into a ConfigMap as YAML, and settings.cc reads
// them. Its table has the default, the limits and the meaning of each. Tenants use annotations
// (annotations.h), which change no setting.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/json.h"
#include "options/options.h"

namespace cronlatch::op {

// CronJobs that the platform gates without annotations, for charts that offer no place for them.
struct Selection {
  std::string namespace_name;                 // exact
  std::string name;                           // with * and ?; empty: any
  std::map<std::string, std::string> labels;  // the CronJob has all of them
  std::map<std::string, std::string>
      annotations;  // as on the CronJob: lock, ttl, ... (keys without prefix)
};

enum class CertificateMode {
  own,    // the leader creates and renews a CA and a leaf in a Secret
  files,  // cert-manager or the platform renews the files in `certificate_dir`
};

// How gated pods get the wrapper: docs/decisions/0055.
enum class InjectionMode {
  automatic,       // image_volume where the cluster is proven to support it, else init_container
  image_volume,    // the image is mounted
  init_container,  // an init container copies the program into a volume
};

// One member for each row of the table in settings.cc. The constructor applies the defaults of the
// rows, so that no other place contains a default.
struct Settings {
  Settings();

  std::string admission_address, plain_address;
  std::string metrics_auth, metrics_address;
  // Whether /metrics and /status are served at metrics_address only.
  bool requires_token() const { return metrics_auth == "token"; }
  std::string namespace_name;
  std::string name;  // of the Service, the webhook configurations, the Lease, the Secret

  // In holders; "": the operator reads it from the cluster at its start.
  std::string cluster_name;

  // ---- for gated pods ----
  InjectionMode injection{};
  // No row: the operator sets it from the cluster's nodes (NodeWatch), for
  // InjectionMode::automatic.
  bool has_proven_image_volumes{};
  std::string image;
  std::string image_pull_policy;
  std::vector<std::string> image_pull_secrets;
  kube::Json resources;  // null: small ones, in inject.cc
  std::string store;
  std::string store_secret;
  std::string store_ca_config_map;  // in a Job's namespace; "": ca.crt of the Secret
  std::string store_ca_key;
  std::map<std::string, std::string> defaults;  // option key -> text
  std::vector<std::string> cluster_lock_namespaces;
  std::map<std::string, std::vector<std::string>> image_index;  // image reference -> its ENTRYPOINT
  std::vector<Selection> select;

  // ---- commands of images: docs/admission.md ----
  bool lookup{};
  std::vector<std::string> lookup_registries;  // image::parse_listed_registry reads each
  Millis lookup_timeout{};
  std::size_t lookup_cache_size{};
  bool lookup_pin{};
  std::vector<std::string> lookup_architectures;
  std::string lookup_docker_config;
  std::vector<std::string> lookup_pull_secret_namespaces;
  std::string lookup_ca_file;
  std::string lookup_program;

  // ---- for the operator ----
  std::vector<std::string> namespaces;  // whose CronJobs, Jobs and pods it reads; empty: all
  CertificateMode certificate_mode{};
  std::string certificate_dir;
  std::string credentials_dir;
  bool patch_cronjobs{};
  std::string copy_secret_source;
  std::vector<std::string> copy_secret_namespaces;
  std::vector<std::string> events_skip;  // names of labels/event_reasons.h
  std::size_t events_per_second{};
  bool lock_histograms{};
  bool store_server{};
  std::vector<std::string> store_server_namespaces;
  std::map<std::string, std::string> store_server_namespace_labels;
  LogFormat log_format{};
  Level log_level{};
  std::string client_ca_file;
};

// From YAML. An unknown or duplicate key and an invalid value are errors; the message contains the
// line and the key, the hint a fix.
Result<Settings> parse_settings(std::string_view yaml);
// The rows of the table, for docs/reference/operator.md.
struct SettingRow {
  std::string_view key, fallback, limits, help;
};
std::vector<SettingRow> setting_rows();

}  // namespace cronlatch::op
