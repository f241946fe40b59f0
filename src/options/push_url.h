// SPDX-License-Identifier: Apache-2.0
// The parts of a Pushgateway's URL, and the path of a push. Text only. A password in the URL is
// refused: other users can read argv and logs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cronlatch {

struct PushUrl {
  bool tls = false;
  std::string host;  // IPv6 without its brackets
  std::uint16_t port = 80;
  std::string path;  // the part before /metrics/..., without a trailing slash

  std::string where() const;  // host:port, [host]:port
};

// Code::usage; the message contains the part that is wrong, the hint a valid URL.
Result<PushUrl> parse_push_url(std::string_view url);
// For the option table.
Status check_push_url(std::string_view url);

// Label and value, in the order of the path; the first label is `job`.
using PushGroup = std::vector<std::pair<std::string, std::string>>;

// The path of a group after the URL's own path: /metrics/job/cronlatch/lock@base64/c2hvcC9h. Values
// with slashes, dots or bytes that are not ASCII are sent in base64url, which the Pushgateway
// decodes. Empty values are omitted.
std::string push_path(const PushUrl& url, const PushGroup& group);

}  // namespace cronlatch
