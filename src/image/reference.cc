// SPDX-License-Identifier: Apache-2.0
// The grammar is that of the OCI distribution specification. The defaults (docker.io, library,
// latest) are those of containerd and CRI-O.
#include "image/reference.h"

#include <algorithm>

namespace cronlatch::image {
namespace {

constexpr std::size_t kMaxNameLength = 255;
constexpr std::size_t kMaxTagLength = 128;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (is_upper(c)) c = static_cast<char>(c - 'A' + 'a');
  return out;
}

Error invalid(std::string what, std::string fix = "write it like registry.example/team/tool:1.0") {
  return {Code::usage, std::move(what), std::move(fix)};
}

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

// Words of letters and digits, separated by one dot, one or two underscores, or any number of
// dashes.
bool is_component(std::string_view part) {
  if (part.empty() || !(is_digit(part.front()) || is_lower(part.front()))) return false;
  std::string separator;
  for (const char c : part) {
    if (is_digit(c) || is_lower(c)) {
      const bool dashes = separator.find_first_not_of('-') == std::string::npos;
      if (!dashes && separator != "." && separator != "_" && separator != "__") return false;
      separator.clear();
    } else if (c == '.' || c == '_' || c == '-') {
      separator += c;
    } else {
      return false;
    }
  }
  return separator.empty();
}

bool is_repository(std::string_view path) {
  while (true) {
    const std::size_t slash = path.find('/');
    if (!is_component(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

bool is_tag(std::string_view tag) {
  if (tag.empty() || tag.size() > kMaxTagLength || tag.front() == '.' || tag.front() == '-')
    return false;
  return std::all_of(tag.begin(), tag.end(), [](char c) {
    return is_digit(c) || is_lower(c) || is_upper(c) || c == '_' || c == '.' || c == '-';
  });
}

bool is_port(std::string_view port) {
  return !port.empty() && port.size() <= 5 && port.front() != '0' &&
         std::all_of(port.begin(), port.end(), is_digit) && std::stoi(std::string(port)) <= 65535;
}

bool is_host(std::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    return host.find_first_not_of("0123456789abcdef:.", 1) == host.size() - 1;
  return !host.empty() && host.front() != '-' && host.front() != '.' && host.back() != '-' &&
         host.find("..") == std::string_view::npos &&
         std::all_of(host.begin(), host.end(),
                     [](char c) { return is_digit(c) || is_lower(c) || c == '-' || c == '.'; });
}

bool is_registry(std::string_view registry) {
  const std::size_t bracket = registry.rfind(']');
  const std::size_t colon = registry.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon == std::string_view::npos) return is_host(registry);
  return is_host(registry.substr(0, colon)) && is_port(registry.substr(colon + 1));
}

// The first part is a registry when it cannot be part of a repository's name.
bool names_registry(std::string_view first) {
  return first.find_first_of(".:[") != std::string_view::npos || first == "localhost" ||
         std::any_of(first.begin(), first.end(), is_upper);
}

Status split_name(std::string_view name, Reference& out) {
  const std::size_t slash = name.find('/');
  if (slash != std::string_view::npos && names_registry(name.substr(0, slash))) {
    out.registry = lower(name.substr(0, slash));
    out.repository = name.substr(slash + 1);
  } else {
    out.registry = "docker.io";
    out.repository = name;
  }
  if (out.registry == "index.docker.io") out.registry = "docker.io";
  if (out.registry == "docker.io" && out.repository.find('/') == std::string::npos)
    out.repository = "library/" + out.repository;
  if (!is_registry(out.registry))
    return invalid("its registry is not a host with an optional port");
  // In lower case, such a name is a part of a repository on docker.io: another image.
  if (!names_registry(out.registry))
    return invalid("its registry is one word in upper case",
                   "add the domain or the port of the registry, like registry:443/tool");
  if (!is_repository(out.repository) || out.name().size() > kMaxNameLength)
    return invalid("its repository is invalid");
  return Done{};
}

}  // namespace

bool is_digest(std::string_view text) {
  return (text.starts_with("sha256:") && text.size() == 7 + 64 && is_hex(text.substr(7))) ||
         (text.starts_with("sha512:") && text.size() == 7 + 128 && is_hex(text.substr(7)));
}

Result<Reference> parse_reference(std::string_view text) {
  Reference out;
  const std::size_t at = text.find('@');
  if (at != std::string_view::npos && text.find('/', at) != std::string_view::npos)
    return invalid("it contains a user name", "remove the login from the image's name");
  if (at != std::string_view::npos) {
    out.digest = text.substr(at + 1);
    if (!is_digest(out.digest)) return invalid("its digest is invalid");
    text = text.substr(0, at);
  }
  const std::size_t slash = text.rfind('/');
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) {
    out.tag = text.substr(colon + 1);
    if (!is_tag(out.tag)) return invalid("its tag is invalid");
    text = text.substr(0, colon);
  }
  if (Status split = split_name(text, out); !split) return split.error();
  if (out.tag.empty()) out.tag = "latest";
  if (!out.digest.empty()) out.tag.clear();
  return out;
}

}  // namespace cronlatch::image
