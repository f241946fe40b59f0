// SPDX-License-Identifier: Apache-2.0
// The protocol is that of distribution's documents "token" (GET, Basic) and "oauth" (POST with a
// refresh token); the tokens are JSON Web Tokens (RFC 7519) that contain their certificate.
#include "support/token_server.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include "support/base64.h"
#include "support/program.h"
#include "support/registry_server.h"

namespace cronlatch::testing {
namespace {

struct KeyFreer {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct DigestFreer {
  void operator()(EVP_MD_CTX* digest) const { EVP_MD_CTX_free(digest); }
};

std::string for_url(std::string base64) {
  std::replace(base64.begin(), base64.end(), '+', '-');
  std::replace(base64.begin(), base64.end(), '/', '_');
  while (base64.ends_with('=')) base64.pop_back();
  return base64;
}

// RS256.
std::string signature(const std::string& text, const std::string& key_file) {
  std::FILE* const file = std::fopen(key_file.c_str(), "r");
  const std::unique_ptr<EVP_PKEY, KeyFreer> key(
      PEM_read_PrivateKey(file, nullptr, nullptr, nullptr));
  std::fclose(file);
  const std::unique_ptr<EVP_MD_CTX, DigestFreer> digest(EVP_MD_CTX_new());
  std::size_t size = static_cast<std::size_t>(EVP_PKEY_get_size(key.get()));
  std::string out(size, '\0');
  if (EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key.get()) != 1 ||
      EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(out.data()), &size,
                     reinterpret_cast<const unsigned char*>(text.data()), text.size()) != 1)
    std::abort();
  return out;
}

// The base64 between the lines of a PEM file.
std::string inside(const std::string& pem) {
  std::string out;
  for (std::size_t at = 0; at < pem.size();) {
    const std::size_t end = std::min(pem.find('\n', at), pem.size());
    if (pem[at] != '-') out += pem.substr(at, end - at);
    at = end + 1;
  }
  return out;
}

std::string decoded(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out += static_cast<char>(std::strtol(text.substr(i + 1, 2).c_str(), nullptr, 16));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

// All values of one name in "a=1&b=2&a=3".
std::vector<std::string> values_of(const std::string& name, const std::string& query) {
  std::vector<std::string> values;
  for (std::size_t at = 0; at < query.size();) {
    const std::size_t end = std::min(query.find('&', at), query.size());
    const std::string pair = query.substr(at, end - at);
    if (pair.starts_with(name + "=")) values.push_back(decoded(pair.substr(name.size() + 1)));
    at = end + 1;
  }
  return values;
}

enum class Who { anonymous, cron, rejected };

Who who_asks(const HttpsServer::Request& request, const std::string& words) {
  const std::vector<std::string> tokens = values_of("refresh_token", words);
  if (!tokens.empty())
    return tokens.front() == TokenServer::kIdentityToken ? Who::cron : Who::rejected;
  const auto login = request.headers.find("authorization");
  if (login == request.headers.end()) return Who::anonymous;
  const std::string right = std::string(RegistryServer::kUser) + ":" + RegistryServer::kPassword;
  return login->second == "Basic " + to_base64(right) ? Who::cron : Who::rejected;
}

// A scope is "repository:NAME:pull,push".
std::string access(const std::vector<std::string>& scopes, Who identity) {
  std::string all;
  for (const std::string& scope : scopes) {
    const std::size_t one = scope.find(':');
    const std::size_t two = scope.rfind(':');
    if (one == two) continue;
    const std::string name = scope.substr(one + 1, two - one - 1);
    std::string actions;
    if (identity == Who::cron)
      actions = R"("pull","push")";
    else if (name.starts_with("public/"))
      actions = R"("pull")";
    all += std::string(all.empty() ? "" : ",") + R"({"type":"repository","name":")" + name +
           R"(","actions":[)" + actions + "]}";
  }
  return all;
}

std::string token(const std::string& access, const CertFiles& key) {
  const std::time_t now = std::time(nullptr);
  const std::string pem = read_file(key.cert);
  const std::string header = R"({"typ":"JWT","alg":"RS256","x5c":[")" + inside(pem) + R"("]})";
  const std::string claims = std::string(R"({"iss":")") + TokenServer::kIssuer +
                             R"(","sub":"x","aud":")" + TokenServer::kService + R"(","exp":)" +
                             std::to_string(now + 600) + R"(,"nbf":)" + std::to_string(now - 60) +
                             R"(,"iat":)" + std::to_string(now) + R"(,"jti":"1","access":[)" +
                             access + "]}";
  const std::string text = for_url(to_base64(header)) + "." + for_url(to_base64(claims));
  return text + "." + for_url(to_base64(signature(text, key.key)));
}

void answer(const HttpsServer::Request& request, HttpsServer::Peer& peer, const CertFiles& key) {
  const std::size_t question = request.target.find('?');
  const std::string words = request.method == "POST"        ? request.body
                            : question == std::string::npos ? std::string()
                                                            : request.target.substr(question + 1);
  const Who identity = who_asks(request, words);
  if (identity == Who::rejected) return peer.answer(401, R"({"errors":[{"code":"UNAUTHORIZED"}]})");
  const std::string made = token(access(values_of("scope", words), identity), key);
  peer.answer(200,
              R"({"token":")" + made + R"(","access_token":")" + made + R"(","expires_in":600})");
}

}  // namespace

TokenServer::TokenServer(const Certificates& certificates)
    : key_(certificates.rsa()),
      server_(certificates.good(),
              [this](const HttpsServer::Request& request, HttpsServer::Peer& peer) {
                answer(request, peer, key_);
              }) {}

}  // namespace cronlatch::testing
