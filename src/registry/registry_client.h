// SPDX-License-Identifier: Apache-2.0
// RegistryClient: the requests that a lookup sends to a registry. RegistryAccess
// (registry_access.h) sends them; tests count them.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "image/reference.h"
#include "registry/logins.h"

namespace cronlatch::registry {

// The answer to HEAD of a manifest. Registries do not count it as a pull.
struct HeadResult {
  enum class Kind {
    found,        // `digest` is that of the name's manifest now
    not_offered,  // this registry answers HEAD without a digest; only a GET can decide
    refused,      // 401, 403 or 404: the image does not exist, or not for this login
    busy,         // 429 or 503: the registry requests a pause
    unavailable,  // no answer, no trusted certificate, or an error of the server
  };
  Kind kind = Kind::unavailable;
  std::string digest{};
  std::string error{};         // refused, busy, unavailable: the reason, without a login
  Millis retry_after{0};       // busy: the header Retry-After, at most 6 h; 0: none
  bool has_pulls_left = true;  // false: the header ratelimit-remaining is 0
};

// The error of read() contains this code of distribution's API if the registry limits requests.
inline constexpr std::string_view kLimitedGet = "toomanyrequests";

// Thread rule: any method from any thread. Every method blocks, at most until the deadline.
class RegistryClient {
 public:
  virtual ~RegistryClient() = default;

  virtual HeadResult head(const image::Reference& image, const RegistryLogin* login,
                          TimePoint deadline, const std::stop_token& stop) const = 0;

  enum class Document { manifest, config };
  struct Limits {
    TimePoint deadline;
    std::size_t max_bytes;
  };
  // The manifest as the registry has it (one GET of a manifest), or the config in OCI's format (one
  // GET of a manifest and one of a blob). The error contains no login.
  virtual Result<std::string> read(Document document, const image::Reference& image,
                                   const RegistryLogin* login, const Limits& limits,
                                   const std::stop_token& stop) const = 0;
};

}  // namespace cronlatch::registry
