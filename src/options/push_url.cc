// SPDX-License-Identifier: Apache-2.0
#include "options/push_url.h"

#include <algorithm>
#include <charconv>

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

Status read_port(std::string_view text, PushUrl& url) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), url.port);
  if (error == std::errc() && end == text.data() + text.size() && url.port != 0) return Done{};
  return wrong("the port must be 1 to 65535, in digits");
}

Status read_authority(std::string_view text, PushUrl& url) {
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return wrong("the ']' after the IPv6 address is missing");
    url.host = text.substr(1, close - 1);
    const auto in_address = [](char c) { return is_word(c) || c == ':' || c == '.'; };
    if (!std::all_of(url.host.begin(), url.host.end(), in_address))
      return wrong("what stands in brackets is not an IPv6 address");
    port = text.substr(close + 1);
  } else {
    url.host = text.substr(0, text.find(':'));
    port = text.substr(url.host.size());
    const auto in_name = [](char c) { return is_word(c) || c == '.'; };
    if (!std::all_of(url.host.begin(), url.host.end(), in_name))
      return wrong("the host has a character that no host name has");
  }
  if (url.host.empty()) return wrong("the host is missing");
  if (port.empty()) return Done{};
  if (port.front() != ':') return wrong("only :port may follow the host");
  return read_port(port.substr(1), url);
}

std::string base64url(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) out += kDigits[(bits >> (count - 6)) & 63];
  }
  if (count > 0) out += kDigits[(bits << (6 - count)) & 63];
  return out;
}

}  // namespace

std::string PushUrl::where() const {
  const bool ipv6 = host.find(':') != std::string::npos;
  return (ipv6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

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
    return wrong("the URL holds a user or a password, which is not supported");
  const std::size_t slash = rest.find('/');
  if (const Status read = read_authority(rest.substr(0, slash), url); !read) return read.error();
  if (slash == std::string_view::npos) return url;
  url.path = rest.substr(slash);
  if (!std::all_of(url.path.begin(), url.path.end(), is_path_character))
    return wrong("the path has a character that a prefix of the Pushgateway's cannot have");
  while (url.path.ends_with('/')) url.path.pop_back();
  if (url.path.ends_with("/metrics") || url.path.find("/metrics/") != std::string::npos)
    return wrong("/metrics and what follows is put behind the URL by itself");
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
    path += '/' + label + (plain ? "/" + value : "@base64/" + base64url(valid_utf8(value)));
  }
  return path;
}

}  // namespace cronlatch
