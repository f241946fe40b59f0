// SPDX-License-Identifier: Apache-2.0
#include "admission/store_volume.h"

#include <algorithm>
#include <vector>

#include "admission/named_items.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

using kube::Json;

// Readable for every uid: the uid of the container is not known here.
constexpr int kMode = 0444;

Json config_map_source(const Settings& settings) {
  const Json items = Json::array({{{"key", settings.store_ca_key}, {"path", "ca.crt"}}});
  return {{"configMap",
           {{"name", settings.store_ca_config_map}, {"optional", true}, {"items", items}}}};
}

// Each source is optional: the pod starts without it.
bool is_optional(const Json& source) {
  return kube::is_true(source, {"secret", "optional"}) ||
         kube::is_true(source, {"configMap", "optional"});
}

}  // namespace

bool has_store_volume(const LockRequest& request, const Settings& settings) {
  return !request.store_secret.empty() || !settings.store_ca_config_map.empty();
}

Json store_volume(const LockRequest& request, const Settings& settings) {
  const std::string& secret = request.store_secret;
  if (!has_store_volume(request, settings)) return {};
  if (settings.store_ca_config_map.empty())
    return {{"name", kStoreVolume},
            {"secret", {{"secretName", secret}, {"optional", true}, {"defaultMode", kMode}}}};
  // The kubelet writes the sources in this order, so the ConfigMap's ca.crt replaces the Secret's.
  Json sources = Json::array();
  if (!secret.empty()) sources.push_back({{"secret", {{"name", secret}, {"optional", true}}}});
  sources.push_back(config_map_source(settings));
  return {{"name", kStoreVolume}, {"projected", {{"sources", sources}, {"defaultMode", kMode}}}};
}

bool is_store_volume(const Json& volume, bool is_gated) {
  if (is_gated) return has_source(volume, {"secret", "projected", "csi"});
  const auto has_mode = [&](const char* kind) {
    return kube::number_at(volume, {kind, "defaultMode"}) == kMode;
  };
  if (kube::is_true(volume, {"secret", "optional"})) return has_mode("secret");
  const std::vector<Json>& sources = kube::items_at(volume, {"projected", "sources"});
  return !sources.empty() && std::all_of(sources.begin(), sources.end(), is_optional) &&
         has_mode("projected");
}

}  // namespace cronlatch::op
