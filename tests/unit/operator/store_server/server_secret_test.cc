// SPDX-License-Identifier: Apache-2.0
#include "operator/store_server/server_secret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/secrets.h"

namespace cronlatch::op {
namespace {

using kube::Json;

StoreServerState state() {
  return {StoredCertificate{
              .ca_pem = "ca", .ca_key_pem = "ca key", .leaf_pem = "leaf", .leaf_key_pem = "key"},
          {Secret("now"), Secret("before"), {1'763'690'000'000'000}}};
}

TEST(ServerSecret, TheEmptySecretOfTheChartHasNoState) {
  EXPECT_EQ(server_state(Json{{"type", "Opaque"}}), StoreServerState());
}

TEST(ServerSecret, IsReadAsItWasWritten) {
  StoreServerState before = state();
  EXPECT_EQ(server_state(Json{{"data", server_data(before, {})}}), before);
  before.seeds.previous = {};
  EXPECT_EQ(server_state(Json{{"data", server_data(before, {})}}), before);
}

TEST(ServerSecret, ContainsTheCredentialsOfTheReader) {
  const Json secret{{"data", server_data(state(), {})}};
  EXPECT_EQ(kube::secret_value(secret, "operator-username"), "operator");
  EXPECT_EQ(kube::secret_value(secret, "operator-password"),
            derive_password(Secret("now"), "operator").reveal());
}

TEST(ServerSecret, ANamespaceGetsItsCredentialsAndNoMore) {
  const Json data = namespace_data(state(), "shop");
  std::vector<std::string> keys;
  for (const auto& [key, value] : data.items()) keys.push_back(key);
  EXPECT_THAT(keys, ::testing::UnorderedElementsAre("username", "password", "ca.crt"));
  const Json secret{{"data", data}};
  EXPECT_EQ(kube::secret_value(secret, "username"), "ns-shop");
  EXPECT_EQ(kube::secret_value(secret, "password"),
            derive_password(Secret("now"), "ns-shop").reveal());
  EXPECT_EQ(kube::secret_value(secret, "ca.crt"), "ca");
}

}  // namespace
}  // namespace cronlatch::op
