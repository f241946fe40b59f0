// SPDX-License-Identifier: Apache-2.0
// What a container without `command` runs: Kubernetes does not know, only the image does. The seam
// between the rewrite and whoever can tell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "admission/settings.h"

namespace cronlatch::op {

struct Entrypoint {
  std::vector<std::string> entrypoint;
  // Runs behind it when the container has no `args`: once we set `command`, Kubernetes no longer
  // takes it from the image.
  std::vector<std::string> cmd;
};

class EntrypointSource {
 public:
  virtual ~EntrypointSource() = default;
  // Nothing for an image that it does not know. Must not throw.
  virtual std::optional<Entrypoint> find(const std::string& image) const = 0;
};

// The platform's list. An entry without tag or digest stands for all of them.
class ImageIndex final : public EntrypointSource {
 public:
  explicit ImageIndex(const Settings& settings) : images_(settings.image_index) {}
  std::optional<Entrypoint> find(const std::string& image) const override;

 private:
  const std::map<std::string, std::vector<std::string>>& images_;
};

}  // namespace cronlatch::op
