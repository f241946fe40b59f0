// SPDX-License-Identifier: Apache-2.0
// HMAC-SHA256 with the seed as the key (RFC 2104): a password reveals neither the seed nor another
// password.
#include "operator/store_server/passwords.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>

#include "base/base64.h"

namespace cronlatch::op {
namespace {

constexpr std::size_t kSeedBytes = 32;
constexpr std::int64_t kMicros = 1'000'000;

std::string_view as_text(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

Result<Secret> create_seed() {
  std::array<unsigned char, kSeedBytes> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    return Error{Code::system, "cannot create a password: the random generator failed"};
  return Secret(encode_base64url(as_text(bytes.data(), bytes.size())));
}

Result<PasswordSeeds> plan_seeds(const PasswordSeeds& seeds, WallTime now,
                                 Result<Secret> (*fresh)()) {
  const std::int64_t age = (now.us - seeds.created_at.us) / kMicros;
  if (seeds.current.empty() || age >= kPasswordLife.count()) {
    Result<Secret> seed = fresh();
    if (!seed) return seed.error();
    return PasswordSeeds{std::move(*seed), seeds.current, now};
  }
  if (!seeds.previous.empty() && age >= kPasswordOverlap.count())
    return PasswordSeeds{seeds.current, {}, seeds.created_at};
  return seeds;
}

Secret derive_password(const Secret& seed, const std::string& user) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  const std::string& key = seed.reveal();
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(user.data()), user.size(), bytes.data(), &size);
  return Secret(encode_base64url(as_text(bytes.data(), size)));
}

std::vector<Secret> accepted_passwords(const PasswordSeeds& seeds, const std::string& user) {
  std::vector<Secret> passwords = {derive_password(seeds.current, user)};
  if (!seeds.previous.empty()) passwords.push_back(derive_password(seeds.previous, user));
  return passwords;
}

}  // namespace cronlatch::op
