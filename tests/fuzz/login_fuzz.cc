// SPDX-License-Identifier: Apache-2.0
// Docker configs of tenants, skopeo's standard error, and its requests to the proxy. Oracles: an
// error contains no login; the auth file has one login for one registry; a reason is one line
// without queries; the proxy forwards one request without its own credentials.
#include "fuzz/oracle.h"
#include "kube/json.h"
#include "registry/challenge.h"
#include "registry/http_response.h"
#include "registry/logins.h"
#include "registry/proxy_request.h"
#include "registry/skopeo.h"

namespace {

using namespace cronlatch;

const std::string kLogin = "bG9va3VwOnNlY3JldA==";  // lookup:secret

void docker_config(std::string_view text) {
  for (const char* name : {"pg:16", "ghcr.io/team/tool:1", "registry.corp:5000/a/b"}) {
    const auto image = image::parse_reference(name);
    const auto logins = registry::logins_for(text, *image);
    if (!logins) {
      fuzz::must(logins.error().message == "the docker config is not a JSON object",
                 "an error contains nothing of the file");
      return;
    }
    for (const registry::RegistryLogin& login : *logins) {
      fuzz::must(!login.auth.empty() || !login.identity_token.empty(), "a login is not empty");
      const auto file = kube::parse_json(registry::auth_file(*image, &login));
      fuzz::must(file.ok(), "the auth file is JSON");
      const kube::Json* const auths = kube::find(*file, {"auths"});
      fuzz::must(auths != nullptr && auths->size() == 1 && auths->contains(image->registry),
                 "the auth file has one login for one registry");
      fuzz::must(file->size() == 1, "the auth file has nothing else, and no credential helper");
    }
  }
}

void standard_error(std::string_view text) {
  const std::string reason = registry::error_reason(std::string(text));
  fuzz::must(!reason.empty(), "there is a reason");
  fuzz::must(fuzz::is_one_line(reason), "a reason is one line");
  fuzz::must(reason.size() <= 500, "a reason is short");
  fuzz::must(!fuzz::contains(reason, "://me:s3cret@"), "a reason contains no login");
}

void head(std::string_view text) {
  const std::string first(text.substr(0, text.find("\r\n\r\n")));
  const auto request = registry::parse_proxy_request(
      first + "\r\nProxy-Authorization: Basic " + kLogin + "\r\n\r\n", "secret");
  fuzz::must(!registry::parse_proxy_request(first + "\r\n\r\n", "another secret").ok(),
             "a request without the secret is refused");
  if (!request) return fuzz::must(fuzz::is_one_line(request.error().message), "one line");
  fuzz::must(!request->peer.host.empty() && request->peer.port != 0,
             "a request has a host and a port");
  fuzz::must(fuzz::contains(first, kLogin) || !fuzz::contains(request->first_bytes, kLogin),
             "the secret is not forwarded");
  const std::size_t end = request->first_bytes.find("\r\n\r\n");
  fuzz::must(request->first_bytes.empty() || end + 4 == request->first_bytes.size(),
             "one head is forwarded");
}

// A response of a registry, and its challenge.
void response(std::string_view text) {
  registry::RegistryResponseReader reader(registry::RegistryResponseReader::Body::expected);
  const auto complete = reader.push(text);
  if (complete && *complete)
    fuzz::must(reader.take().body.size() <= std::size_t{64} * 1024, "a body is bounded");
  const auto realm = registry::parse_url(registry::parse_challenge(text).realm);
  if (!realm) return fuzz::must(fuzz::is_one_line(realm.error().message), "one line");
  fuzz::must(!realm->peer.host.empty() && realm->peer.port != 0, "a realm has a host and a port");
  fuzz::must(realm->target.find_first_of("\r\n ") == std::string::npos,
             "a realm cannot add a header");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = fuzz::text_of(bytes, size);
  docker_config(text);
  standard_error(text);
  head(text);
  response(text);
  return 0;
}
