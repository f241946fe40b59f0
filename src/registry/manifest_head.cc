// SPDX-License-Identifier: Apache-2.0
#include "registry/manifest_head.h"

#include <algorithm>

#include "base/host_port.h"
#include "base/retry_after.h"
#include "kube/json.h"
#include "registry/challenge.h"

namespace cronlatch::registry {
namespace {

// Every kind that image::parse_manifest reads: a registry without one of them would convert the
// manifest, or answer 404.
constexpr char kAccept[] =
    "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json, "
    "application/vnd.docker.distribution.manifest.v2+json, "
    "application/vnd.docker.distribution.manifest.v1+prettyjws, "
    "application/vnd.docker.distribution.manifest.v1+json";

// What a credential may contain inside a header.
bool is_one_word(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

std::string host_header(const image::Peer& peer, bool is_https) {
  return peer.port == (is_https ? 443 : 80) ? show_host(peer.host)
                                            : show_host_port(peer.host, peer.port);
}

HeadResult failed(HeadResult::Kind kind, std::string why, Millis retry_after = Millis(0)) {
  HeadResult result;
  result.kind = kind;
  result.error = std::move(why);
  result.retry_after = retry_after;
  return result;
}

// "0;w=21600"
bool has_pulls_left(const RegistryResponse& response) {
  const std::string left = response.header("ratelimit-remaining");
  return left != "0" && !left.starts_with("0;");
}

HeadResult result_of(const RegistryResponse& response, WallTime now) {
  using Kind = HeadResult::Kind;
  const std::string status = " (HTTP status " + std::to_string(response.status) + ")";
  switch (response.status) {
    case 200: {
      HeadResult found;
      found.digest = response.header("docker-content-digest");
      found.has_pulls_left = has_pulls_left(response);
      found.kind = image::is_digest(found.digest) ? Kind::found : Kind::not_offered;
      return found;
    }
    case 401:
      return failed(Kind::refused, "unauthorized: authentication required" + status);
    case 403:
      return failed(Kind::refused, "denied: the login is not authorized for this image" + status);
    case 404:
      return failed(Kind::refused, "manifest unknown: no such image or tag" + status);
    case 429:
    case 503:
      return failed(Kind::busy, "the registry limits requests" + status,
                    retry_after(response.header("retry-after"), now));
    default:
      if (response.status >= 500)
        return failed(Kind::unavailable, "the registry reported an error" + status);
      return failed(Kind::not_offered, "");
  }
}

}  // namespace

struct ManifestHead::Exchange {
  std::string method;
  Url url;
  std::string authorization;  // "": none
  std::string body;
  const TrustedCas& cas;
  ConnectionLimits limits;
};

Result<RegistryResponse> ManifestHead::send(const Exchange& exchange) const {
  const std::string host = host_header(exchange.url.peer, exchange.url.is_https);
  std::string head = exchange.method + " ";
  if (!exchange.url.is_https) head += "http://" + host;
  head += exchange.url.target + " HTTP/1.1\r\nHost: " + host + "\r\nAccept: " + kAccept +
          "\r\nUser-Agent: cronlatch-operator/" CRONLATCH_VERSION "\r\nConnection: close\r\n";
  if (!exchange.url.is_https) head += "Proxy-Authorization: " + proxy_.authorization() + "\r\n";
  if (!exchange.authorization.empty()) head += "Authorization: " + exchange.authorization + "\r\n";
  if (!exchange.body.empty())
    head += "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: " +
            std::to_string(exchange.body.size()) + "\r\n";
  auto connection = ProxiedConnection::open(proxy_, exchange.url.peer,
                                            exchange.url.is_https ? &exchange.cas : nullptr, clock_,
                                            exchange.limits);
  if (!connection) return connection.error();
  if (Status sent = connection->write(head + "\r\n" + exchange.body); !sent) return sent.error();
  RegistryResponseReader reader(exchange.method == "HEAD" ? RegistryResponseReader::Body::none
                                                          : RegistryResponseReader::Body::expected);
  while (true) {
    auto bytes = connection->read();
    if (!bytes) return bytes.error();
    const auto complete = reader.push(*bytes);
    if (!complete) return complete.error();
    if (*complete) return reader.take();
  }
}

// The header for the second request; "": there is none that could help.
Result<std::string> ManifestHead::authorization(const RegistryResponse& refused,
                                                const image::Reference& image,
                                                const RegistryLogin* login,
                                                const Exchange& before) const {
  const Challenge challenge = parse_challenge(refused.header("www-authenticate"));
  const bool has_login = login != nullptr && is_one_word(login->auth.reveal());
  if (challenge.kind == Challenge::Kind::basic)
    return has_login ? "Basic " + login->auth.reveal() : std::string();
  if (challenge.kind == Challenge::Kind::none) return std::string();
  auto realm = parse_url(challenge.realm);
  if (!realm) return realm.error();
  const bool has_token = login != nullptr && !login->identity_token.empty();
  if (has_token && !realm->is_https) return std::string();  // the proxy forwards no POST
  const std::string scope =
      challenge.scope.empty() ? "repository:" + image.repository + ":pull" : challenge.scope;
  const std::string query =
      "service=" + percent_encoded(challenge.service) + "&scope=" + percent_encoded(scope);
  Exchange exchange{"GET", std::move(*realm), "", "", before.cas, before.limits};
  if (has_token) {
    exchange.method = "POST";
    exchange.body = "grant_type=refresh_token&client_id=cronlatch&" + query +
                    "&refresh_token=" + percent_encoded(login->identity_token.reveal());
  } else {
    exchange.url.target += (exchange.url.target.find('?') == std::string::npos ? "?" : "&") + query;
    if (has_login) exchange.authorization = "Basic " + login->auth.reveal();
  }
  const auto answer = send(exchange);
  if (!answer) return answer.error();
  if (answer->status == 429 || answer->status >= 500)
    return Error{Code::unreachable, "the token server of the registry returned HTTP status " +
                                        std::to_string(answer->status)};
  if (answer->status != 200) return std::string();
  const auto json = kube::parse_json(answer->body, {.bytes = answer->body.size() + 1, .depth = 8});
  if (!json) return std::string();
  std::string token = kube::string_at(*json, {"token"});
  if (token.empty()) token = kube::string_at(*json, {"access_token"});
  return is_one_word(token) ? "Bearer " + token : std::string();
}

HeadResult ManifestHead::head(const image::Reference& image, const RegistryLogin* login,
                              TimePoint deadline, const std::stop_token& stop) const {
  using Kind = HeadResult::Kind;
  const auto listed = std::find_if(
      policy_.listed().begin(), policy_.listed().end(),
      [&](const image::ListedRegistry& registry) { return registry.name == image.registry; });
  if (listed == policy_.listed().end()) return failed(Kind::refused, "is not on the list");
  const auto cas = TrustedCas::load(ca_file_);
  if (!cas) return failed(Kind::unavailable, cas.error().message);
  image::Peer peer = listed->peer;
  if (image.registry == "docker.io") peer.host = "registry-1.docker.io";
  Exchange exchange{"HEAD",
                    {!listed->plain, std::move(peer),
                     "/v2/" + image.repository + "/manifests/" +
                         (image.digest.empty() ? image.tag : image.digest)},
                    "",
                    "",
                    *cas,
                    {deadline, stop}};
  auto response = send(exchange);
  if (response && response->status == 401) {
    auto second = authorization(*response, image, login, exchange);
    if (!second) return failed(Kind::unavailable, second.error().message);
    if (!second->empty()) {
      exchange.authorization = std::move(*second);
      response = send(exchange);
    }
  }
  if (!response) return failed(Kind::unavailable, response.error().message);
  return result_of(*response, clock_.wall());
}

}  // namespace cronlatch::registry
