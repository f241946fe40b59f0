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
  EXPECT_TRUE(program.complains("those of the last connection are used")) << program.err();
  EXPECT_TRUE(program.until([&] { return lease_end() > before; })) << program.err();
  touch(go());
  EXPECT_EQ(program.exit_code(), 5) << program.err();
}

}  // namespace
}  // namespace cronlatch::testing
