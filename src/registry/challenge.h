// SPDX-License-Identifier: Apache-2.0
// What a registry requires for a request: the header WWW-Authenticate, and the request for a token
// that follows from it (distribution's documents "token" and "oauth"). The header is untrusted.
// Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "image/registry_policy.h"

namespace cronlatch::registry {

struct Challenge {
  enum class Kind { none, basic, bearer };
  Kind kind = Kind::none;
  std::string realm{}, service{}, scope{};  // bearer
};
// Of several challenges, Bearer comes first.
Challenge parse_challenge(std::string_view header);

struct Url {
  bool is_https = true;
  image::Peer peer;
  std::string target;  // path and query
};
// "https://host:port/path?query", or http://. A URL with a user name or a control character is an
// error, whose message contains nothing of it.
Result<Url> parse_url(std::string_view text);

// For a query or a form (RFC 3986, section 2.3).
std::string percent_encoded(std::string_view text);

}  // namespace cronlatch::registry
