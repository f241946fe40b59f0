// SPDX-License-Identifier: Apache-2.0
#include "operator/store_server/server_secret.h"

#include <charconv>

#include "base/base64.h"
#include "kube/secrets.h"

namespace cronlatch::op {
namespace {

using kube::Json;

constexpr std::int64_t kMicros = 1'000'000;
constexpr char kSeed[] = "password-seed";
constexpr char kPreviousSeed[] = "password-seed-previous";
constexpr char kSeedTime[] = "password-seed-time";  // Unix time in seconds

Json encoded(const std::string& text) { return encode_base64(text); }

WallTime seconds(const std::string& text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return {number * kMicros};
}

}  // namespace

StoreServerState server_state(const Json& secret) {
  const auto value = [&](const char* key) { return kube::secret_value(secret, key); };
  StoreServerState state;
  const StoredCertificate stored{.ca_pem = value("ca.crt"),
                                 .ca_key_pem = value("ca.key"),
                                 .leaf_pem = value("tls.crt"),
                                 .leaf_key_pem = value("tls.key")};
  if (!stored.ca_pem.empty()) state.certificate = stored;
  state.seeds = {Secret(value(kSeed)), Secret(value(kPreviousSeed)), seconds(value(kSeedTime))};
  return state;
}

Json server_data(const StoreServerState& state, const std::vector<ServerUser>& users) {
  const PasswordSeeds& seeds = state.seeds;
  Json data{{"ca.crt", encoded(state.certificate->ca_pem)},
            {"ca.key", encoded(state.certificate->ca_key_pem)},
            {"tls.crt", encoded(state.certificate->leaf_pem)},
            {"tls.key", encoded(state.certificate->leaf_key_pem)},
            {"users.acl", encoded(acl_file(users))},
            {kSeed, encoded(seeds.current.reveal())},
            {kSeedTime, encoded(std::to_string(seeds.created_at.us / kMicros))},
            {"operator-username", encoded(kReaderUser)},
            {"operator-password", encoded(derive_password(seeds.current, kReaderUser).reveal())}};
  if (!seeds.previous.empty()) data[kPreviousSeed] = encoded(seeds.previous.reveal());
  return data;
}

Json namespace_data(const StoreServerState& state, const std::string& namespace_name) {
  const std::string user = namespace_user(namespace_name);
  return {{"username", encoded(user)},
          {"password", encoded(derive_password(state.seeds.current, user).reveal())},
          {"ca.crt", encoded(state.certificate->ca_pem)}};
}

}  // namespace cronlatch::op
