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

constexpr std::size_t kMaxDockerConfigBytes = std::size_t{1} << 20;  // the limit of a Secret

struct LoginScope {
  std::string host, path;
};

// The keys of `auths`: "https://index.docker.io/v1/", "registry.corp:5000/team".
LoginScope scope_of(std::string key) {
  if (const std::size_t scheme = key.find("://"); scheme != std::string::npos)
    key.erase(0, scheme + 3);
  for (const char* version : {"/v1/", "/v2/", "/v1", "/v2"})
    if (key.ends_with(version)) {
      key.resize(key.size() - std::string_view(version).size());
      break;
    }
  while (key.ends_with('/')) key.pop_back();
  const std::size_t slash = std::min(key.find('/'), key.size());
  LoginScope scope{key.substr(0, slash), key.substr(std::min(slash + 1, key.size()))};
  if (scope.host == "index.docker.io" || scope.host == "registry-1.docker.io")
    scope.host = "docker.io";
  return scope;
}

// As the kubelet: a star matches characters between two dots.
bool host_matches(std::string pattern, std::string host) {
  if (pattern == host) return true;
  if (std::count(pattern.begin(), pattern.end(), '.') != std::count(host.begin(), host.end(), '.'))
    return false;
  std::replace(pattern.begin(), pattern.end(), '.', '/');
  std::replace(host.begin(), host.end(), '.', '/');
  return fnmatch(pattern.c_str(), host.c_str(), FNM_PATHNAME) == 0;
}

bool path_matches(const std::string& path, const std::string& repository) {
  return path.empty() || repository == path || repository.starts_with(path + "/");
}

RegistryLogin login_of(const Json& entry) {
  std::string auth = kube::string_at(entry, {"auth"});
  const std::string user = kube::string_at(entry, {"username"});
  if (auth.empty() && !user.empty())
    auth = encode_base64(user + ":" + kube::string_at(entry, {"password"}));
  return {Secret(std::move(auth)), Secret(kube::string_at(entry, {"identitytoken"}))};
}

}  // namespace

Result<std::vector<RegistryLogin>> logins_for(std::string_view docker_config,
                                              const image::Reference& image) {
  const auto root = kube::parse_json(docker_config, {.bytes = kMaxDockerConfigBytes, .depth = 8});
  if (!root || !root->is_object())
    return Error{Code::config, "the docker config is not a JSON object"};
  const Json* auths = kube::find(*root, {"auths"});
  if (auths == nullptr) auths = &*root;  // the older format .dockercfg has no `auths`
  std::multimap<std::size_t, RegistryLogin, std::greater<>> matching;
  if (auths->is_object())
    for (const auto& [key, entry] : auths->items()) {
      const LoginScope scope = scope_of(key);
      if (!host_matches(scope.host, image.registry) || !path_matches(scope.path, image.repository))
        continue;
      RegistryLogin login = login_of(entry);
      if (login.auth.empty() && login.identity_token.empty()) continue;
      matching.emplace(scope.path.size(), std::move(login));
    }
  std::vector<RegistryLogin> logins;
  for (auto& [length, login] : matching) logins.push_back(std::move(login));
  return logins;
}

std::string auth_file(const image::Reference& image, const RegistryLogin* login) {
  Json auths = Json::object();
  if (login != nullptr) {
    // skopeo ignores an entry without `auth`, also one with a token. An empty user is enough.
    const bool token_only = login->auth.empty() && !login->identity_token.empty();
    Json entry = {{"auth", token_only ? encode_base64(":") : login->auth.reveal()}};
    if (!login->identity_token.empty()) entry["identitytoken"] = login->identity_token.reveal();
    auths[image.registry] = std::move(entry);
  }
  return kube::to_text({{"auths", std::move(auths)}});
}

}  // namespace cronlatch::registry
