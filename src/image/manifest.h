// SPDX-License-Identifier: Apache-2.0
// What a registry's JSON says, reduced to what a command needs. It comes from strangers: every size
// and depth is bounded before anything is made of it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cronlatch::image {

inline constexpr std::size_t kMostManifestBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMostConfigBytes = std::size_t{2} << 20;

struct Variant {
  std::string digest;  // of the manifest of one platform
  std::string arch;    // as the label kubernetes.io/arch: amd64, arm64, arm, ...
  bool operator==(const Variant&) const = default;
};

struct Manifest {
  enum class Kind {
    image,
    index,     // of several platforms
    schema_1,  // its digest is not that of its bytes, so it can only be asked for by its tag
  };
  Kind kind = Kind::image;
  std::vector<Variant> linux_variants{};  // of an index; attestations are no platform
};
Result<Manifest> parse_manifest(std::string_view json);

// What an image runs when nobody says otherwise.
struct Startup {
  std::vector<std::string> entrypoint;  // empty: none; shell form is an array here like any other
  std::vector<std::string> cmd;
  bool operator==(const Startup&) const = default;
};
// From what `skopeo inspect --config` prints. Windows is refused.
Result<Startup> parse_config(std::string_view json);

}  // namespace cronlatch::image
