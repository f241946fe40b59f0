// SPDX-License-Identifier: Apache-2.0
#include "admission/known_sidecars.h"

#include <algorithm>
#include <array>

namespace cronlatch::op {
namespace {

// A part of the container's name, or of the last component of its image's name.
constexpr std::array<std::string_view, 22> kWords = {
    "proxy",     "sidecar",  "envoy",     "istio",    "linkerd",  "dapr",
    "dataplane", "cloudsql", "pgbouncer", "agent",    "exporter", "collector",
    "telemetry", "fluent",   "filebeat",  "promtail", "vector",   "logstash",
    "alloy",     "xray",     "tailscale", "reloader"};

std::string_view image_name(std::string_view image) {
  image = image.substr(0, image.find('@'));
  image = image.substr(image.rfind('/') + 1);
  return image.substr(0, image.find(':'));
}

}  // namespace

bool is_known_sidecar(const ContainerView& container) {
  const auto has_word = [](std::string_view name) {
    return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
      return name.find(word) != std::string_view::npos;
    });
  };
  return has_word(container.name) || has_word(image_name(container.image));
}

}  // namespace cronlatch::op
