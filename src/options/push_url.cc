// SPDX-License-Identifier: Apache-2.0
#include "options/push_url.h"

#include <algorithm>

#include "base/base64.h"
#include "base/host_port.h"
#include "base/text.h"

namespace cronlatch {
namespace {

constexpr std::string_view kExample = "for example http://pushgateway.example:9091";

Error wrong(std::string message) {
  return {Code::usage, std::move(message), std::string(kExample)};
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

bool is_path_character(char c) { return is_word(c) || c == '/' || c == '.' || c == '~'; }

}  // namespace

std::string PushUrl::where() const { return show_host_port(host, port); }

Result<PushUrl> parse_push_url(std::string_view text) {
  PushUrl url;
  std::string_view rest;
  if (text.starts_with("http://")) {
    rest = text.substr(7);
  } else if (text.starts_with("https://")) {
    rest = text.substr(8);
    url.tls = true;
    url.port = 443;
  } else {
    return wrong("the URL begins neither with http:// nor with https://");
  }
  // Never shown: it may be a password.
  if (rest.find('@') != std::string_view::npos)
    return wrong("the URL contains a user or a password, which is not supported");
  const std::size_t slash = rest.find('/');
  Result<HostPort> target = parse_host_port(rest.substr(0, slash));
  if (!target) return wrong(target.error().message);
  url.host = std::move(target->host);
  url.port = target->port.value_or(url.port);
  if (slash == std::string_view::npos) return url;
  url.path = rest.substr(slash);
  if (!std::all_of(url.path.begin(), url.path.end(), is_path_character))
    return wrong(
        "the path contains a character that is not valid in a path prefix of the Pushgateway");
  while (url.path.ends_with('/')) url.path.pop_back();
  if (url.path.ends_with("/metrics") || url.path.find("/metrics/") != std::string::npos)
    return wrong("the path contains /metrics; remove it, because cronlatch appends it");
  return url;
}

Status check_push_url(std::string_view text) {
  const Result<PushUrl> url = parse_push_url(text);
  if (!url) return url.error();
  return Done{};
}

std::string push_path(const PushUrl& url, const PushGroup& group) {
  std::string path = url.path + "/metrics";
  for (const auto& [label, value] : group) {
    if (value.empty()) continue;
    const bool plain = std::all_of(value.begin(), value.end(), is_word);
    path += '/' + label + (plain ? "/" + value : "@base64/" + encode_base64url(valid_utf8(value)));
  }
  return path;
}

}  // namespace cronlatch
