// SPDX-License-Identifier: Apache-2.0
// The low-level calls of OpenSSL are deprecated, but the EVP ones would read openssl.cnf (see
// redis/tls_library.h) and need a millisecond at the start.
#include "store/postgres/scram.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/base64.h"

namespace cronlatch::postgres {
namespace {

constexpr std::string_view kHeader = "n,,";     // no channel binding
constexpr std::string_view kHeader64 = "biws";  // base64 of it
constexpr std::string_view kUser = "n=,r=";     // the server uses the name of the startup message
constexpr std::size_t kBlock = SHA256_CBLOCK;
using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

std::string_view text_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

Digest sha256(std::string_view text) {
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, text.data(), text.size());
  Digest digest{};
  SHA256_Final(digest.data(), &context);
  return digest;
}

// HMAC-SHA-256 (RFC 2104) with one key: the two states after the padded key are computed once.
class Hmac {
 public:
  explicit Hmac(std::string_view key) {
    const Digest hashed = sha256(key);
    if (key.size() > kBlock) key = text_of(hashed);
    start(inner_, key, 0x36);
    start(outer_, key, 0x5c);
  }
  Digest operator()(std::string_view text) const {
    SHA256_CTX inner = inner_;
    SHA256_Update(&inner, text.data(), text.size());
    Digest digest{};
    SHA256_Final(digest.data(), &inner);
    SHA256_CTX outer = outer_;
    SHA256_Update(&outer, digest.data(), digest.size());
    SHA256_Final(digest.data(), &outer);
    return digest;
  }

 private:
  static void start(SHA256_CTX& context, std::string_view key, unsigned char pad) {
    std::array<unsigned char, kBlock> block;
    block.fill(pad);
    for (std::size_t i = 0; i < key.size(); ++i) block[i] ^= static_cast<unsigned char>(key[i]);
    SHA256_Init(&context);
    SHA256_Update(&context, block.data(), block.size());
  }
  SHA256_CTX inner_{};
  SHA256_CTX outer_{};
};

#pragma GCC diagnostic pop

Digest exclusive_or(Digest a, const Digest& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<unsigned char>(a[i] ^ b[i]);
  return a;
}

// Hi() of RFC 5802: PBKDF2 with one block.
Digest salted_password(std::string_view password, const std::string& salt, int iterations) {
  const Hmac hmac(password);
  Digest u = hmac(salt + std::string("\0\0\0\1", 4));
  Digest all = u;
  for (int i = 1; i < iterations; ++i) {
    u = hmac(text_of(u));
    all = exclusive_or(all, u);
  }
  return all;
}

// The value of attribute `name` at the start of `rest`, which is advanced behind the comma.
std::optional<std::string_view> attribute(char name, std::string_view& rest) {
  if (rest.size() < 2 || rest[0] != name || rest[1] != '=') return std::nullopt;
  const std::size_t comma = std::min(rest.find(','), rest.size());
  const std::string_view value = rest.substr(2, comma - 2);
  rest.remove_prefix(std::min(comma + 1, rest.size()));
  return value;
}

}  // namespace

Scram::Scram(const Secret& password, std::string nonce)
    : password_(password), nonce_(std::move(nonce)) {}

std::string Scram::first() const { return std::string(kHeader) + std::string(kUser) + nonce_; }

std::optional<std::string> Scram::answer(std::string_view server_first) {
  if (!server_signature_.empty()) return std::nullopt;  // a login has one answer
  std::string_view rest = server_first;
  const auto nonce = attribute('r', rest);
  const auto salt64 = nonce ? attribute('s', rest) : std::nullopt;
  const auto count = salt64 ? attribute('i', rest) : std::nullopt;
  if (!count || !nonce->starts_with(nonce_) || nonce->size() == nonce_.size()) return std::nullopt;
  const auto salt = decode_base64(*salt64);
  int iterations = 0;
  const auto [end, error] =
      std::from_chars(count->data(), count->data() + count->size(), iterations);
  if (!salt || error != std::errc() || end != count->data() + count->size() || iterations < 1 ||
      iterations > kMaxScramIterations)
    return std::nullopt;

  const std::string without_proof = "c=" + std::string(kHeader64) + ",r=" + std::string(*nonce);
  const std::string all =
      std::string(kUser) + nonce_ + ',' + std::string(server_first) + ',' + without_proof;
  const Hmac salted(text_of(salted_password(password_.reveal(), *salt, iterations)));
  const Digest client_key = salted("Client Key");
  const Digest signature = Hmac(text_of(sha256(text_of(client_key))))(all);
  server_signature_ = encode_base64(text_of(Hmac(text_of(salted("Server Key")))(all)));
  return without_proof + ",p=" + encode_base64(text_of(exclusive_or(client_key, signature)));
}

bool Scram::is_proved(std::string_view server_final) const {
  const auto signature = attribute('v', server_final);
  return signature && !server_signature_.empty() && signature->size() == server_signature_.size() &&
         CRYPTO_memcmp(signature->data(), server_signature_.data(), signature->size()) == 0;
}

Result<std::string> random_nonce() {
  std::array<char, 18> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return Error{Code::system, std::string("getrandom: ") + std::strerror(errno)};
  return encode_base64({bytes.data(), bytes.size()});
}

}  // namespace cronlatch::postgres
