// SPDX-License-Identifier: Apache-2.0
// The two things that a client of registries asks of a proxy: a tunnel for TLS (CONNECT), and one
// request without TLS, in absolute form. RFC 9110 and 9112, as far as Go's client uses them.
#include <algorithm>
#include <cctype>
#include <vector>

#include "base/base64.h"
#include "registry/proxy_tunnel.h"

namespace cronlatch::registry {
namespace {

constexpr char kEnd[] = "\r\n";

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::vector<std::string> lines_of(const std::string& head) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < head.size();) {
    const std::size_t end = std::min(head.find(kEnd, at), head.size());
    if (end > at) lines.push_back(head.substr(at, end - at));
    at = end + 2;
  }
  return lines;
}

bool may_ask(const std::vector<std::string>& lines, const std::string& secret) {
  const std::string wanted = "proxy-authorization: Basic " + encode_base64("lookup:" + secret);
  const std::size_t colon = wanted.find(':');
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.size() == wanted.size() &&
           lower(line.substr(0, colon)) == wanted.substr(0, colon) &&
           line.compare(colon, std::string::npos, wanted, colon) == 0;
  });
}

// Without what is meant for the proxy; the host closes after its answer, so that the next request
// is judged, too.
std::string onward(const std::string& method, const std::string& path,
                   const std::vector<std::string>& lines) {
  std::string out = method + " " + path + " HTTP/1.1" + kEnd;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::string name = lower(lines[i].substr(0, lines[i].find(':')));
    if (name.starts_with("proxy-") || name == "connection" || name == "keep-alive") continue;
    out += lines[i] + kEnd;
  }
  return out + "Connection: close" + kEnd + kEnd;
}

Error no(const char* what) { return {Code::usage, what}; }

}  // namespace

Result<Wanted> read_head(const std::string& head, const std::string& secret) {
  const std::vector<std::string> lines = lines_of(head);
  if (lines.empty()) return no("an empty request");
  const std::string& first = lines.front();
  const std::size_t one = first.find(' ');
  const std::size_t two = first.rfind(' ');
  if (one == std::string::npos || two == one) return no("a request that is none");
  if (!may_ask(lines, secret)) return no("a request without the secret");
  const std::string method = first.substr(0, one);
  std::string target = first.substr(one + 1, two - one - 1);
  if (method == "CONNECT") {
    auto peer = image::parse_peer(target, 443);
    if (!peer) return no("a tunnel to no host");
    return Wanted{std::move(*peer), image::RegistryPolicy::Scheme::https, ""};
  }
  // A body could hold a second request.
  if (method != "GET" && method != "HEAD") return no("another method than GET and HEAD");
  if (!target.starts_with("http://")) return no("another scheme than http");
  target.erase(0, 7);
  const std::size_t slash = std::min(target.find_first_of("/?#"), target.size());
  auto peer = image::parse_peer(target.substr(0, slash), 80);
  if (!peer || target.substr(0, slash).find('@') != std::string::npos)
    return no("a request to no host");
  std::string path = target.substr(slash);
  if (!path.starts_with('/')) path = "/" + path;
  return Wanted{std::move(*peer), image::RegistryPolicy::Scheme::http, onward(method, path, lines)};
}

}  // namespace cronlatch::registry
