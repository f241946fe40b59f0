// SPDX-License-Identifier: Apache-2.0
#include "registry/challenge.h"

#include <algorithm>
#include <cctype>

namespace cronlatch::registry {
namespace {

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// The position behind the word, where a challenge begins; npos: none.
std::size_t behind(std::string_view header, std::string_view word) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  for (auto at = header.begin(); at != header.end(); ++at) {
    at = std::search(at, header.end(), word.begin(), word.end(), same);
    if (at == header.end()) return std::string_view::npos;
    const auto position = static_cast<std::size_t>(at - header.begin());
    const std::size_t end = position + word.size();
    const bool starts = position == 0 || header[position - 1] == ' ' || header[position - 1] == ',';
    if (starts && (end == header.size() || header[end] == ' ')) return end;
  }
  return std::string_view::npos;
}

// Consumes `name="value"` or `name=value`. False: the text does not begin with a parameter.
bool take_parameter(std::string_view& text, std::string& name, std::string& value) {
  while (!text.empty() && (text.front() == ' ' || text.front() == ',')) text.remove_prefix(1);
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 ||
      !std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(equals), is_letter))
    return false;
  name = text.substr(0, equals);
  text.remove_prefix(equals + 1);
  value.clear();
  if (!text.starts_with('"')) {
    const std::size_t end = std::min(text.find(','), text.size());
    value = text.substr(0, end);
    text.remove_prefix(end);
    return true;
  }
  text.remove_prefix(1);
  while (!text.empty() && text.front() != '"') {
    if (text.front() == '\\' && text.size() > 1) text.remove_prefix(1);
    value += text.front();
    text.remove_prefix(1);
  }
  if (!text.empty()) text.remove_prefix(1);
  return true;
}

}  // namespace

Challenge parse_challenge(std::string_view header) {
  Challenge challenge;
  const std::size_t bearer = behind(header, "bearer");
  if (bearer == std::string_view::npos) {
    if (behind(header, "basic") != std::string_view::npos) challenge.kind = Challenge::Kind::basic;
    return challenge;
  }
  challenge.kind = Challenge::Kind::bearer;
  std::string_view rest = header.substr(bearer);
  std::string name, value;
  while (take_parameter(rest, name, value)) {
    if (name == "realm") challenge.realm = value;
    if (name == "service") challenge.service = value;
    if (name == "scope") challenge.scope = value;
  }
  return challenge;
}

Result<Url> parse_url(std::string_view text) {
  Url url;
  const Error invalid{Code::unreachable, "the registry names an invalid token server"};
  if (std::any_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c > '~'; }))
    return invalid;
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return invalid;
  url.is_https = text.substr(0, scheme) == "https";
  if (!url.is_https && text.substr(0, scheme) != "http") return invalid;
  text.remove_prefix(scheme + 3);
  const std::size_t end = std::min(text.find_first_of("/?#"), text.size());
  const std::string_view authority = text.substr(0, end);
  auto peer = image::parse_peer(authority, url.is_https ? 443 : 80);
  if (!peer || authority.find('@') != std::string_view::npos) return invalid;
  url.peer = std::move(*peer);
  url.target = text.substr(end, std::min(text.find('#'), text.size()) - end);
  if (!url.target.starts_with('/')) url.target = "/" + url.target;
  return url;
}

std::string percent_encoded(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_letter(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

}  // namespace cronlatch::registry
