// SPDX-License-Identifier: Apache-2.0
#include "registry/logins.h"

#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "base/base64.h"
#include "kube/json.h"

namespace cronlatch::registry {
namespace {

using kube::Json;

constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // what a Secret can hold

struct Place {
  std::string host, path;
};

// "https://index.docker.io/v1/" and "registry.corp:5000/team" are how people write one.
Place place_of(std::string key) {
  if (const std::size_t scheme = key.find("://"); scheme != std::string::npos)
    key.erase(0, scheme + 3);
  for (const char* version : {"/v1/", "/v2/", "/v1", "/v2"})
    if (key.ends_with(version)) {
      key.resize(key.size() - std::string_view(version).size());
      break;
    }
  while (key.ends_with('/')) key.pop_back();
  const std::size_t slash = std::min(key.find('/'), key.size());
  Place place{key.substr(0, slash), key.substr(std::min(slash + 1, key.size()))};
  if (place.host == "index.docker.io" || place.host == "registry-1.docker.io")
    place.host = "docker.io";
  return place;
}

// A star stands for letters of one part between dots.
bool host_fits(std::string pattern, std::string host) {
  if (pattern == host) return true;
  if (std::count(pattern.begin(), pattern.end(), '.') != std::count(host.begin(), host.end(), '.'))
    return false;
  std::replace(pattern.begin(), pattern.end(), '.', '/');
  std::replace(host.begin(), host.end(), '.', '/');
  return fnmatch(pattern.c_str(), host.c_str(), FNM_PATHNAME) == 0;
}

bool path_fits(const std::string& path, const std::string& repository) {
  return path.empty() || repository == path || repository.starts_with(path + "/");
}

Login login_of(const Json& entry) {
  std::string auth = kube::string_at(entry, {"auth"});
  const std::string user = kube::string_at(entry, {"username"});
  if (auth.empty() && !user.empty())
    auth = encode_base64(user + ":" + kube::string_at(entry, {"password"}));
  return {Secret(std::move(auth)), Secret(kube::string_at(entry, {"identitytoken"}))};
}

}  // namespace

Result<std::vector<Login>> logins_for(std::string_view docker_config,
                                      const image::Reference& image) {
  const auto root = kube::parse_json(docker_config, {.bytes = kMostBytes, .depth = 8});
  if (!root || !root->is_object())
    return Error{Code::config, "the docker config with logins is no JSON object"};
  const Json* auths = kube::find(*root, {"auths"});
  if (auths == nullptr) auths = &*root;  // the older .dockercfg has no level above
  std::multimap<std::size_t, Login, std::greater<>> fitting;
  if (auths->is_object())
    for (const auto& [key, entry] : auths->items()) {
      const Place place = place_of(key);
      if (!host_fits(place.host, image.registry) || !path_fits(place.path, image.repository))
        continue;
      Login login = login_of(entry);
      if (login.auth.empty() && login.identity_token.empty()) continue;
      fitting.emplace(place.path.size(), std::move(login));
    }
  std::vector<Login> logins;
  for (auto& [length, login] : fitting) logins.push_back(std::move(login));
  return logins;
}

std::string auth_file(const image::Reference& image, const Login* login) {
  Json auths = Json::object();
  if (login != nullptr) {
    // The client passes over an entry without a user, though a token needs none: an empty one will
    // do.
    const bool token_only = login->auth.empty() && !login->identity_token.empty();
    Json entry = {{"auth", token_only ? encode_base64(":") : login->auth.reveal()}};
    if (!login->identity_token.empty()) entry["identitytoken"] = login->identity_token.reveal();
    auths[image.registry] = std::move(entry);
  }
  return kube::to_text({{"auths", std::move(auths)}});
}

}  // namespace cronlatch::registry
