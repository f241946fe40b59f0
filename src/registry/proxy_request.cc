// SPDX-License-Identifier: Apache-2.0
// RFC 9110 and 9112, as far as Go's HTTP client uses them.
#include "registry/proxy_request.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/base64.h"

namespace cronlatch::registry {
namespace {

constexpr char kLineEnd[] = "\r\n";

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::vector<std::string> lines_of(const std::string& head) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < head.size();) {
    const std::size_t end = std::min(head.find(kLineEnd, at), head.size());
    if (end > at) lines.push_back(head.substr(at, end - at));
    at = end + 2;
  }
  return lines;
}

bool is_authorized(const std::vector<std::string>& lines, const std::string& secret) {
  const std::string expected = "proxy-authorization: Basic " + encode_base64("lookup:" + secret);
  const std::size_t colon = expected.find(':');
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.size() == expected.size() &&
           lower(line.substr(0, colon)) == expected.substr(0, colon) &&
           line.compare(colon, std::string::npos, expected, colon) == 0;
  });
}

// The request without the headers for the proxy. The host closes the connection after its response,
// so that the policy checks the next request as well.
std::string forwarded_head(const std::string& method, const std::string& path,
                           const std::vector<std::string>& lines) {
  std::string out = method + " " + path + " HTTP/1.1" + kLineEnd;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::string name = lower(lines[i].substr(0, lines[i].find(':')));
    if (name.starts_with("proxy-") || name == "connection" || name == "keep-alive") continue;
    out += lines[i] + kLineEnd;
  }
  return out + "Connection: close" + kLineEnd + kLineEnd;
}

Error refused(const char* what) { return {Code::usage, what}; }

}  // namespace

Result<ProxyRequest> parse_proxy_request(const std::string& head, const std::string& secret) {
  const std::vector<std::string> lines = lines_of(head);
  if (lines.empty()) return refused("an empty request");
  const std::string& first = lines.front();
  const std::size_t first_space = first.find(' ');
  const std::size_t last_space = first.rfind(' ');
  if (first_space == std::string::npos || last_space == first_space)
    return refused("a malformed request line");
  if (!is_authorized(lines, secret)) return refused("a request without the secret");
  const std::string method = first.substr(0, first_space);
  std::string target = first.substr(first_space + 1, last_space - first_space - 1);
  if (method == "CONNECT") {
    auto peer = image::parse_peer(target, 443);
    if (!peer) return refused("a CONNECT without a valid host and port");
    return ProxyRequest{std::move(*peer), image::RegistryPolicy::Scheme::https, ""};
  }
  // Other methods have a body, and a body can contain a second request.
  if (method != "GET" && method != "HEAD") return refused("a method other than GET and HEAD");
  if (!target.starts_with("http://")) return refused("a scheme other than http");
  target.erase(0, 7);
  const std::size_t slash = std::min(target.find_first_of("/?#"), target.size());
  auto peer = image::parse_peer(target.substr(0, slash), 80);
  if (!peer || target.substr(0, slash).find('@') != std::string::npos)
    return refused("a request without a valid host");
  std::string path = target.substr(slash);
  if (!path.starts_with('/')) path = "/" + path;
  return ProxyRequest{std::move(*peer), image::RegistryPolicy::Scheme::http,
                      forwarded_head(method, path, lines)};
}

}  // namespace cronlatch::registry
