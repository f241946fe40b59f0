// SPDX-License-Identifier: Apache-2.0
// RegistryAccess: sends HEAD itself, and reads documents with skopeo.
#pragma once

#include "registry/manifest_head.h"
#include "registry/registry_client.h"
#include "registry/skopeo.h"

namespace cronlatch::registry {

class RegistryAccess final : public RegistryClient {
 public:
  // Both outlive the object.
  RegistryAccess(const ManifestHead& head, const Skopeo& skopeo) : head_(head), skopeo_(skopeo) {}

  HeadResult head(const image::Reference& image, const RegistryLogin* login, TimePoint deadline,
                  const std::stop_token& stop) const override {
    return head_.head(image, login, deadline, stop);
  }
  Result<std::string> read(Document document, const image::Reference& image,
                           const RegistryLogin* login, const Limits& limits,
                           const std::stop_token& stop) const override {
    return skopeo_.read(document, image, login, limits, stop);
  }

 private:
  const ManifestHead& head_;
  const Skopeo& skopeo_;
};

}  // namespace cronlatch::registry
