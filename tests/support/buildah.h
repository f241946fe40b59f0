// SPDX-License-Identifier: Apache-2.0
// Buildah: builds and pushes images with the program buildah. The storage is a folder that is
// deleted with the object. No file system is mounted, and no command of an image runs.
#pragma once

#include <string>
#include <vector>

#include "support/program.h"

namespace cronlatch::testing {

class Buildah {
 public:
  // `trust`: as RegistryServer::trust().
  explicit Buildah(std::string trust);

  // FROM scratch with these arguments of `buildah config`; `format` is oci or docker.
  void build(const std::string& image, const std::vector<std::string>& config,
             const std::string& format = "oci") const;
  // A manifest list of images that were built here.
  void build_list(const std::string& list, const std::vector<std::string>& images) const;
  void push(const std::string& image, const std::string& to,
            const std::vector<std::string>& more = {}) const;
  void push_list(const std::string& list, const std::string& to) const;

 private:
  std::string run(const std::vector<std::string>& words) const;  // the last word of its output
  const std::string trust_;
  const ScratchDir dir_;
};

}  // namespace cronlatch::testing
