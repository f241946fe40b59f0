// SPDX-License-Identifier: Apache-2.0
// Parses the manifest and the config of an image, reduced to what its command needs. Both are
// untrusted: size and depth are checked before they are parsed. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cronlatch::image {

inline constexpr std::size_t kMaxManifestBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxConfigBytes = std::size_t{2} << 20;

struct PlatformManifest {
  std::string digest;        // of the platform's manifest
  std::string architecture;  // as the label kubernetes.io/arch: amd64, arm64, arm, ...
  bool operator==(const PlatformManifest&) const = default;
};

struct Manifest {
  enum class Kind {
    image,
    index,     // of several platforms
    schema_1,  // its digest is not that of its bytes, so it can be read only by its tag
  };
  Kind kind = Kind::image;
  std::vector<PlatformManifest> linux_platforms{};  // of an index, without attestations
};
Result<Manifest> parse_manifest(std::string_view json);

// What an image runs when the container has neither command nor args.
struct ImageCommand {
  std::vector<std::string> entrypoint;  // empty: none; the shell form is an array, too
  std::vector<std::string> cmd;
  bool operator==(const ImageCommand&) const = default;
};
// The input is the output of `skopeo inspect --config`. Images for Windows are an error.
Result<ImageCommand> parse_config(std::string_view json);

}  // namespace cronlatch::image
