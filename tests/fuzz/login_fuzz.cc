// SPDX-License-Identifier: Apache-2.0
// Docker configs of tenants, the error output of the client, and its requests to the proxy.
// Oracles: an error does not contain a login; the client's file contains one login for one
// registry; a reason is one line without queries; the proxy forwards one request without its own
// credentials.
#include "fuzz/oracle.h"
#include "kube/json.h"
#include "registry/logins.h"
#include "registry/proxy_tunnel.h"
#include "registry/skopeo.h"

namespace {

using namespace cronlatch;

const std::string kLogin = "bG9va3VwOnNlY3JldA==";  // lookup:secret

void docker_config(std::string_view text) {
  for (const char* name : {"pg:16", "ghcr.io/team/tool:1", "registry.corp:5000/a/b"}) {
    const auto image = image::parse_reference(name);
    const auto logins = registry::logins_for(text, *image);
    if (!logins) {
      fuzz::must(fuzz::is_one_line(logins.error().message), "an error is one line");
      fuzz::must(text.size() < 8 || !fuzz::contains(logins.error().message, text),
                 "an error does not contain data of the file");
      return;
    }
    for (const registry::Login& login : *logins) {
      fuzz::must(!login.auth.empty() || !login.identity_token.empty(), "a login is not empty");
      const auto file = kube::parse_json(registry::auth_file(*image, &login));
      fuzz::must(file.ok(), "the client's file is JSON");
      const kube::Json* const auths = kube::find(*file, {"auths"});
      fuzz::must(auths != nullptr && auths->size() == 1 && auths->contains(image->registry),
                 "the file has one login for one registry");
      fuzz::must(file->size() == 1, "the file has no other member, such as a program to run");
    }
  }
}

void last_words(std::string_view text) {
  const std::string reason = registry::reason_in(std::string(text));
  fuzz::must(!reason.empty(), "the reason is not empty");
  fuzz::must(fuzz::is_one_line(reason), "the reason is one line");
  fuzz::must(reason.size() <= 500, "the reason is bounded");
  fuzz::must(!fuzz::contains(reason, "://me:geheim@"), "the reason contains no login");
}

void head(std::string_view text) {
  const std::string first(text.substr(0, text.find("\r\n\r\n")));
  const auto request = registry::read_head(
      first + "\r\nProxy-Authorization: Basic " + kLogin + "\r\n\r\n", "secret");
  fuzz::must(!registry::read_head(first + "\r\n\r\n", "another secret").ok(),
             "a request without the secret is refused");
  if (!request)
    return fuzz::must(fuzz::is_one_line(request.error().message), "an error is one line");
  fuzz::must(!request->peer.host.empty() && request->peer.port != 0,
             "the request has a destination");
  fuzz::must(fuzz::contains(first, kLogin) || !fuzz::contains(request->first_bytes, kLogin),
             "the secret is not forwarded");
  const std::size_t end = request->first_bytes.find("\r\n\r\n");
  fuzz::must(request->first_bytes.empty() || end + 4 == request->first_bytes.size(),
             "one head is forwarded");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = fuzz::text_of(bytes, size);
  docker_config(text);
  last_words(text);
  head(text);
  return 0;
}
