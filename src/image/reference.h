// SPDX-License-Identifier: Apache-2.0
// An image's name as container runtimes read it, made whole: "pg" is docker.io/library/pg:latest.
// Pure; whether anybody may be asked about it is registry_policy.h's.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cronlatch::image {

struct Reference {
  std::string registry;    // "docker.io", "registry.corp:5000", "[::1]:5000"; lower case
  std::string repository;  // "library/pg"
  std::string tag;         // "" where a digest stands: the digest decides
  std::string digest;      // "sha256:...", or ""

  std::string name() const { return registry + "/" + repository; }
  // "docker.io/library/pg:latest" or "...@sha256:..."; what is asked for.
  std::string text() const { return name() + (digest.empty() ? ":" + tag : "@" + digest); }
  bool operator==(const Reference&) const = default;
};

// What a message shows of an image's name: all of it, as a rule, or its digest would be missing.
inline constexpr std::size_t kShownName = 400;

// The error names neither image nor container: its caller knows where the name stands.
Result<Reference> parse_reference(std::string_view text);

// "sha256:" and 64 hex digits in lower case, or sha512 with 128.
bool is_digest(std::string_view text);

}  // namespace cronlatch::image
