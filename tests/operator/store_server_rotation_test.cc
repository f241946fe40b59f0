// SPDX-License-Identifier: Apache-2.0
// StoreServer with a real Redis: passwords and certificates are replaced without a refused run.
#include "operator/tls/certificate_issue.h"
#include "store_server_scene.h"
#include "support/eventually.h"

namespace cronlatch::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class StoreServerRotation : public StoreServerScene {
 protected:
  std::string field(const std::string& name, const std::string& lock,
                    const std::string& field) const {
    const auto redis = client("ns-" + name, of_namespace(name, "password"));
    return (*redis)({"HMGET", "cronlatch:{" + lock + "}", field}).elements.at(0).text;
  }
  // Waits for a renewal of the lock.
  bool is_renewed(const std::string& name, const std::string& lock) const {
    const std::string before = field(name, lock, "expires");
    return eventually([&] { return field(name, lock, "expires") > before; });
  }
  // The key of the server's Secret.
  void lose(const char* key) {
    auto secret = *api_.at(secret_path());
    secret["data"].erase(key);
    api_.put(secret_path(), secret);
  }
  ProgramSpec long_run() const {
    return run("shop", "shop/long", {"--renew-every", "200ms"},
               {talking_child(), "say", "began", "await", file("go"), "exit", "0"});
  }
  // The run has the files of its namespace, and a new connection.
  void survives_a_restart(Program& holder) {
    (void)mount("shop");
    redis_->restart();
    ASSERT_TRUE(maintain());
    EXPECT_TRUE(is_renewed("shop", "shop/long")) << holder.err();
    write(file("go"), "");
    EXPECT_EQ(holder.exit_code(), 0) << holder.err();
    EXPECT_EQ(field("shop", "shop/long", "state"), "free");
  }
};

TEST_F(StoreServerRotation, APasswordIsReplacedDuringARunAndTheOldOneEndsLater) {
  NEEDS_TLS_SERVER();
  start();
  const std::string old = of_namespace("shop", "password");
  Program holder(long_run());
  ASSERT_TRUE(holder.says("began"));
  // When: the password's life is over
  clock_.pass(op::kPasswordLife);
  ASSERT_TRUE(maintain());
  // Then: both are accepted, and namespaces have the new one
  const std::string now = of_namespace("shop", "password");
  EXPECT_NE(now, old);
  EXPECT_TRUE(accepts("ns-shop", now));
  EXPECT_TRUE(accepts("ns-shop", old));
  // When: the overlap is over
  clock_.pass(op::kPasswordOverlap);
  ASSERT_TRUE(maintain());
  EXPECT_TRUE(accepts("ns-shop", now));
  EXPECT_FALSE(accepts("ns-shop", old));
  // Then: the run that has the new file loses nothing, also on a new connection
  write(file("users.acl"), stored("users.acl"));
  survives_a_restart(holder);
}

// Every namespace has the new CA, and kubelets had the time to write it into running pods, before
// the server presents a certificate of it.
TEST_F(StoreServerRotation, ACaIsReplacedDuringARunThatLosesNothing) {
  NEEDS_TLS_SERVER();
  start();
  const std::string old_ca = stored("ca.crt"), old_leaf = stored("tls.crt");
  Program holder(long_run());
  ASSERT_TRUE(holder.says("began"));
  // When: the key of the CA is lost
  lose("ca.key");
  ASSERT_TRUE(maintain());
  // Then: clients trust both CAs, and the certificate stays
  EXPECT_NE(stored("ca.crt"), old_ca);
  EXPECT_THAT(stored("ca.crt"), EndsWith(old_ca));
  EXPECT_EQ(of_namespace("shop", "ca.crt"), stored("ca.crt"));
  EXPECT_EQ(stored("tls.crt"), old_leaf);
  ASSERT_TRUE(maintain());
  clock_.pass(Seconds(655));
  ASSERT_TRUE(maintain());
  EXPECT_EQ(stored("tls.crt"), old_leaf) << "kubelets need 600 s, and API servers 60 s";
  // When: the delays are over, and kubelets have written the files
  clock_.pass(Seconds(10));
  ASSERT_TRUE(maintain());
  EXPECT_NE(stored("tls.crt"), old_leaf);
  write_server_files();
  survives_a_restart(holder);
}

// A new leader does not know since when the namespaces have the bundle.
TEST_F(StoreServerRotation, ANewLeaderWaitsAgainBeforeItReplacesTheCertificate) {
  NEEDS_TLS_SERVER();
  start();
  const std::string old_leaf = stored("tls.crt");
  lose("ca.key");
  ASSERT_TRUE(maintain());
  clock_.pass(Seconds(655));
  new_leader();
  ASSERT_TRUE(maintain());
  clock_.pass(Seconds(10));
  ASSERT_TRUE(maintain());
  EXPECT_EQ(stored("tls.crt"), old_leaf);
  clock_.pass(Seconds(655));
  ASSERT_TRUE(maintain());
  EXPECT_NE(stored("tls.crt"), old_leaf);
}

TEST_F(StoreServerRotation, AnAdministratorReplacesThePasswordsAtOnce) {
  NEEDS_TLS_SERVER();
  start();
  const std::string old = of_namespace("shop", "password");
  lose("password-seed-time");
  ASSERT_TRUE(maintain());
  EXPECT_NE(of_namespace("shop", "password"), old);
  EXPECT_TRUE(accepts("ns-shop", old));
  lose("password-seed-previous");
  ASSERT_TRUE(maintain());
  EXPECT_FALSE(accepts("ns-shop", old));
  EXPECT_TRUE(accepts("ns-shop", of_namespace("shop", "password")));
}

TEST_F(StoreServerRotation, ALostSeedIsRepairedByARestartOfTheServer) {
  NEEDS_TLS_SERVER();
  start();
  lose("password-seed");
  EXPECT_FALSE(maintain());
  EXPECT_THAT(log_text_, HasSubstr("delete the pod of the server"));
  write_server_files();
  redis_->restart();
  EXPECT_TRUE(maintain());
  EXPECT_TRUE(accepts("ns-shop", of_namespace("shop", "password")));
}

TEST_F(StoreServerRotation, AServerReadsItsRenewedCertificate) {
  NEEDS_TLS_SERVER();
  start();
  const auto serves = [&](const std::string& pem) {
    Program probe(ProgramSpec{.argv = {"/usr/bin/openssl", "s_client", "-connect",
                                       "localhost:" + std::to_string(redis_->tls_port())}});
    probe.close_input();
    (void)probe.exit_code();
    return probe.out().find(pem) != std::string::npos;
  };
  const std::string first = stored("tls.crt");
  ASSERT_TRUE(serves(first));
  // When: a new certificate is in the mounted files
  const auto renewed = op::issue_leaf({stored("ca.crt"), stored("ca.key")}, {"localhost"},
                                      clock_.wall(), "cronlatch redis");
  ASSERT_TRUE(renewed);
  write(file("tls.crt"), renewed->cert_pem);
  write(file("tls.key"), renewed->key_pem);
  EXPECT_TRUE(serves(first));
  clock_.pass(op::kReapplyInterval);
  ASSERT_TRUE(maintain());
  // Then
  EXPECT_TRUE(serves(renewed->cert_pem));
}

TEST_F(StoreServerRotation, RenewsTheCertificateWithItsNames) {
  EXPECT_FALSE(maintain());
  const std::string first = stored("tls.crt");
  const auto facts = op::inspect(
      first,
      {.key_pem = stored("tls.key"), .ca_pem = stored("ca.crt"), .dns_names = {"localhost"}});
  ASSERT_TRUE(facts);
  EXPECT_TRUE(facts->names_match && facts->signed_by_ca && facts->key_matches);
  clock_.pass(op::kLeafLife * 2 / 3);
  EXPECT_FALSE(maintain());
  EXPECT_NE(stored("tls.crt"), first);
}

}  // namespace
}  // namespace cronlatch::testing
