// SPDX-License-Identifier: Apache-2.0
// The address of a Pushgateway, taken apart, and the groups that we push to. Pure text. A password
// in it is refused, because argv and logs are read by others.
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
  std::string path;  // what stands before /metrics/..., without a slash at its end

  std::string where() const;  // host:port, [host]:port
};

// Code::usage: which part is wrong, and a URL that is right.
Result<PushUrl> parse_push_url(std::string_view url);
// For the option table.
Status check_push_url(std::string_view url);

// Label -> value, in the order of the path; the first is `job`.
using PushGroup = std::vector<std::pair<std::string, std::string>>;

// The path of a group behind the URL's own: /metrics/job/cronlatch/lock@base64/c2hvcC9h. Values
// that a path would not keep (slashes, dots, what is no ASCII) are sent in base64url, as the
// Pushgateway reads it; empty ones are left out.
std::string push_path(const PushUrl& url, const PushGroup& group);

}  // namespace cronlatch
