// SPDX-License-Identifier: Apache-2.0
// An image's name with the defaults of container runtimes: "pg" is docker.io/library/pg:latest.
// Pure. registry_policy.h decides whether its registry may be queried.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cronlatch::image {

struct Reference {
  std::string registry;    // "docker.io", "registry.corp:5000", "[::1]:5000"; lower case
  std::string repository;  // "library/pg"
  std::string tag;         // "" where there is a digest: the digest decides
  std::string digest;      // "sha256:...", or ""

  std::string name() const { return registry + "/" + repository; }
  // "docker.io/library/pg:latest" or "docker.io/library/pg@sha256:..."
  std::string text() const { return name() + (digest.empty() ? ":" + tag : "@" + digest); }
  bool operator==(const Reference&) const = default;
};

// How many bytes of an image's name a message contains: enough for a name with a digest.
inline constexpr std::size_t kMaxShownName = 400;

// The error names neither image nor container: the caller adds where the name is.
Result<Reference> parse_reference(std::string_view text);

// "sha256:" and 64 hex digits in lower case, or sha512 with 128.
bool is_digest(std::string_view text);

}  // namespace cronlatch::image
