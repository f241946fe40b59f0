// SPDX-License-Identifier: Apache-2.0
// Credentials that are replaced while the program runs: those of a run that holds the lock, and a
// certificate that is refused until it is replaced.
#include <filesystem>

#include "gated.h"
#include "support/certificates.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Certificates& certificates() {
  static const Certificates made;
  return made;
}

// A directory like a mounted Secret: the files are links through `..data`, which is replaced in one
// step.
class MountedSecret {
 public:
  struct Content {
    std::string password;
    std::string ca;  // paths of the files to copy
    CertFiles certificate;
  };
  MountedSecret(std::string dir, const Content& content) : dir_(std::move(dir)) {
    std::filesystem::create_directory(dir_);
    replace(content);
    for (const char* name : {"password", "ca.crt", "tls.crt", "tls.key"})
      std::filesystem::create_symlink("..data/" + std::string(name), dir_ + "/" + name);
  }
  void replace(const Content& content) {
    const std::string version = "..version-" + std::to_string(++versions_);
    const std::string at = dir_ + "/" + version + "/";
    std::filesystem::create_directory(at);
    std::ofstream(at + "password") << content.password << '\n';
    std::filesystem::copy_file(content.ca, at + "ca.crt");
    std::filesystem::copy_file(content.certificate.cert, at + "tls.crt");
    std::filesystem::copy_file(content.certificate.key, at + "tls.key");
    std::filesystem::create_directory_symlink(version, dir_ + "/..data_tmp");
    std::filesystem::rename(dir_ + "/..data_tmp", dir_ + "/..data");
    if (!last_.empty()) std::filesystem::remove_all(last_);
    last_ = at;
  }
  const std::string& dir() const { return dir_; }

 private:
  std::string dir_, last_;
  int versions_ = 0;
};

class TlsGated : public Gated {
 protected:
  void SetUp() override { NEEDS_TLS_SERVER(); }
  void start(const std::vector<std::string>& server_options) {
    redis = RedisServer::start_tls(certificates(), server_options);
    store = "rediss://jobs@127.0.0.1:" + std::to_string(redis->tls_port());
    command({"ACL", "SETUSER", "jobs", "on", ">old", "~*", "&*", "+@all"});
  }
  RedisAnswer command(const std::vector<std::string>& words) const {
    RedisAnswer answer = redis_command(redis->port(), words);
    EXPECT_FALSE(answer.is_error()) << answer.text;
    return answer;
  }
  void serve_with(const CertFiles& files) const {
    command({"CONFIG", "SET", "tls-cert-file", files.cert, "tls-key-file", files.key});
  }
  // The end of the lease, by the server's clock.
  std::int64_t lease_end() const {
    return std::atoll(command({"HGET", "cronlatch:{job}", "expires"}).text.c_str());
  }
  std::string outcome() const { return read_file(dir.path("outcome")); }

  std::unique_ptr<RedisServer> redis;
};

TEST_F(TlsGated, PasswordCertificateAndCaThatAreRotatedReachARunThatHoldsTheLock) {
  // Given
  start({"--tls-auth-clients", "yes"});
  MountedSecret secret(dir.path("secret"), {"old", certificates().ca(), certificates().client()});
  Program program(run({"--credentials-dir", secret.dir(), "--ttl", "6s", "--renew-every", "300ms"},
                      {"say", "up", "await", go(), "exit", "5"}));
  ASSERT_TRUE(program.says("up")) << program.err();
  // When: the server gets another password, another certificate, and another CA for its clients
  command({"ACL", "SETUSER", "jobs", "resetpass", ">new-s3cret"});
  command({"CONFIG", "SET", "tls-cert-file", certificates().unknown_ca().cert, "tls-key-file",
           certificates().unknown_ca().key, "tls-ca-cert-file", certificates().other_ca()});
  secret.replace({"new-s3cret", certificates().other_ca(), certificates().unknown_ca()});
  command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  const std::int64_t before = lease_end();
  // Then: the lease is renewed over a new connection
  EXPECT_TRUE(program.until([&] { return lease_end() > before; })) << program.err();
  touch(go());
  EXPECT_EQ(program.exit_code(), 5) << program.err();
  EXPECT_EQ(command({"HGET", "cronlatch:{job}", "state"}).text, "free");
  EXPECT_THAT(program.err(), Not(HasSubstr("s3cret")));
}

TEST_F(TlsGated, CredentialsThatCannotBeReadForAWhileDoNotEndARun) {
  // Given
  start({"--tls-auth-clients", "no"});
  MountedSecret secret(dir.path("secret"), {"old", certificates().ca(), certificates().client()});
  Program program(run({"--credentials-dir", secret.dir(), "--ttl", "6s", "--renew-every", "300ms"},
                      {"say", "up", "await", go(), "exit", "5"}));
  ASSERT_TRUE(program.says("up")) << program.err();
  // When: the key does not belong to the certificate
  secret.replace(
      {"old", certificates().ca(), {certificates().client().cert, certificates().good().key}});
  command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  const std::int64_t before = lease_end();
  // Then
  EXPECT_TRUE(program.complains("using those of the last connection")) << program.err();
  EXPECT_TRUE(program.until([&] { return lease_end() > before; })) << program.err();
  touch(go());
  EXPECT_EQ(program.exit_code(), 5) << program.err();
}

class RefusedCertificate : public TlsGated {
 protected:
  RefusedCertificate() {
    std::ofstream(dir.path("password")) << "old\n";
    std::filesystem::copy_file(certificates().ca(), dir.path("ca.crt"));
  }
  ProgramSpec run_with(const Words& further) const {
    Words options = {"--password-file",  dir.path("password"), "--tls-ca",
                     dir.path("ca.crt"), "--connect-timeout",  "1s",
                     "--outcome-file",   dir.path("outcome")};
    options.insert(options.end(), further.begin(), further.end());
    return run(options, {"touch", dir.path("started"), "exit", "5"});
  }
};

TEST_F(RefusedCertificate, ThatIsReplacedWhileTheRunWaitsStartsTheCommand) {
  // Given
  start({"--tls-cert-file", certificates().expired().cert, "--tls-key-file",
         certificates().expired().key});
  Program program(run_with({"--on-store-down", "wait"}));
  ASSERT_TRUE(program.complains("expired")) << program.err();
  EXPECT_FALSE(exists(dir.path("started")));
  // When
  serve_with(certificates().good());
  // Then
  EXPECT_EQ(program.exit_code(), 5) << program.err();
  EXPECT_TRUE(exists(dir.path("started")));
  EXPECT_THAT(outcome(), HasSubstr("\"outcome\":\"ran\""));
}

TEST_F(RefusedCertificate, OfAnotherHostThatIsReplacedWhileTheRunWaitsStartsTheCommand) {
  // Given
  start({"--tls-cert-file", certificates().wrong_name().cert, "--tls-key-file",
         certificates().wrong_name().key});
  Program program(run_with({"--on-store-down", "wait"}));
  ASSERT_TRUE(program.complains("elsewhere.example")) << program.err();
  EXPECT_FALSE(exists(dir.path("started")));
  // When
  serve_with(certificates().good());
  // Then
  EXPECT_EQ(program.exit_code(), 5) << program.err();
  EXPECT_TRUE(exists(dir.path("started")));
}

TEST_F(RefusedCertificate, WhoseCaArrivesWhileTheRunWaitsStartsTheCommand) {
  // Given: the server has a certificate of a CA that is not known yet
  start({"--tls-cert-file", certificates().unknown_ca().cert, "--tls-key-file",
         certificates().unknown_ca().key});
  Program program(run_with({"--on-store-down", "wait"}));
  ASSERT_TRUE(program.complains("unknown CA")) << program.err();
  // When
  std::filesystem::copy_file(certificates().other_ca(), dir.path("new.crt"));
  std::filesystem::rename(dir.path("new.crt"), dir.path("ca.crt"));
  // Then
  EXPECT_EQ(program.exit_code(), 5) << program.err();
  EXPECT_TRUE(exists(dir.path("started")));
}

TEST_F(RefusedCertificate, EndsTheRunWith77WhenItDoesNotWaitForTheStore) {
  // Given
  start({"--tls-cert-file", certificates().expired().cert, "--tls-key-file",
         certificates().expired().key});
  // When
  Program program(run_with({}));
  // Then
  EXPECT_EQ(program.exit_code(), 77) << program.err();
  EXPECT_FALSE(exists(dir.path("started")));
  EXPECT_THAT(outcome(), HasSubstr("\"outcome\":\"refused\""));
  EXPECT_THAT(outcome(), HasSubstr("\"reason\":\"tls\""));
}

}  // namespace
}  // namespace cronlatch::testing
