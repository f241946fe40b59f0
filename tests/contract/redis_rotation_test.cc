// SPDX-License-Identifier: Apache-2.0
// Passwords and certificates that are replaced while a program holds a lock: a new connection uses
// the new content of the files.
#include <sys/inotify.h>

#include <filesystem>

#include "base/fd.h"
#include "contract/redis_support.h"
#include "store/redis/address.h"
#include "support/certificates.h"

namespace cronlatch::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Certificates& certificates() {
  static const Certificates certificates;
  return certificates;
}

// A program that holds the lock, and the connection to its store.
struct Holder {
  explicit Holder(StoreSpec spec) : run(watched(std::move(spec))) {
    const auto reply = run(run.program.acquire());
    if (granted_in(reply) == nullptr) ADD_FAILURE() << reply_text(reply);
    if (granted_in(reply) != nullptr) fence = granted_in(reply)->fence;
  }
  StoreSpec watched(StoreSpec spec) {
    spec.warn = [this](const LogLine& line) { warnings.push_back(line.message); };
    return spec;
  }
  std::optional<Reply> renew() { return run(run.program.renew(fence)); }

  std::vector<std::string> warnings;
  RedisProgram run;
  Fence fence = 0;
};

void close_connections(const RedisServer& server) {
  redis_command(server.port(), {"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
}

bool is_renewed(const std::optional<Reply>& reply) {
  return reply && std::holds_alternative<Renewed>(*reply);
}

class RedisPasswordRotation : public ::testing::Test {
 protected:
  RedisPasswordRotation() {
    redis_command(server->port(), {"ACL", "SETUSER", "jobs", "on", ">old", "~*", "&*", "+@all"});
  }
  StoreSpec spec() {
    StoreSpec spec = spec_of("redis://jobs@127.0.0.1:" + std::to_string(server->port()));
    spec.password = Secret("old");
    spec.credentials_now = [this]() -> Result<StoreCredentials> {
      ++sent_at;
      if (broken) return Error{Code::config, "password-file: cannot be read", "check it"};
      StoreCredentials now;
      now.password = Secret(password);
      return now;
    };
    return spec;
  }
  void rotate_on_the_server() {
    redis_command(server->port(), {"ACL", "SETUSER", "jobs", "resetpass", ">new"});
  }

  std::unique_ptr<RedisServer> server = RedisServer::start();
  std::string password = "old";
  bool broken = false;
  int sent_at = 0;
};

TEST_F(RedisPasswordRotation, ReachesTheNextConnection) {
  Holder holder(spec());
  rotate_on_the_server();
  close_connections(*server);
  // The file still contains the old one
  const auto refused = holder.renew();
  ASSERT_NE(unavailable_in(refused), nullptr) << reply_text(refused);
  EXPECT_EQ(unavailable_in(refused)->error.code, Code::auth);
  // when
  password = "new";
  const auto renewed = holder.renew();
  // then
  EXPECT_TRUE(is_renewed(renewed)) << reply_text(renewed);
  EXPECT_TRUE(holder.warnings.empty());
}

TEST_F(RedisPasswordRotation, LeavesAnOpenConnectionUsable) {
  Holder holder(spec());
  rotate_on_the_server();
  const auto renewed = holder.renew();
  EXPECT_TRUE(is_renewed(renewed)) << reply_text(renewed);
  EXPECT_EQ(sent_at, 0) << "the first connection uses what was read at the start";
}

TEST_F(RedisPasswordRotation, ThatCannotBeReadKeepsTheLastPasswordAndWarnsOnce) {
  Holder holder(spec());
  broken = true;
  for (int i = 0; i < 3; ++i) {
    close_connections(*server);
    const auto renewed = holder.renew();
    EXPECT_TRUE(is_renewed(renewed)) << reply_text(renewed);
  }
  EXPECT_THAT(holder.warnings, ElementsAre(HasSubstr("password-file: cannot be read")));
  // when it is readable for some time
  broken = false;
  close_connections(*server);
  EXPECT_TRUE(is_renewed(holder.renew()));
  broken = true;
  close_connections(*server);
  EXPECT_TRUE(is_renewed(holder.renew()));
  // then there is another warning
  EXPECT_EQ(holder.warnings.size(), 2u);
  EXPECT_EQ(sent_at, 5);
}

// Certificates in files that are replaced by rename, as tools replace them.
class RedisCertificateRotation : public ::testing::Test {
 protected:
  void SetUp() override { NEEDS_TLS_SERVER(); }
  RedisCertificateRotation() {
    std::filesystem::create_directory(dir);
    put("ca.crt", certificates().ca());
    put("tls.crt", certificates().client().cert);
    put("tls.key", certificates().client().key);
  }
  StoreSpec spec() const {
    StoreSpec spec = spec_of("rediss://127.0.0.1:" + std::to_string(server->tls_port()));
    spec.tls_ca = dir + "/ca.crt";
    spec.tls_cert = dir + "/tls.crt";
    spec.tls_key = dir + "/tls.key";
    return spec;
  }
  void put(const std::string& name, const std::string& content) const {
    std::filesystem::copy_file(content, dir + "/new");
    std::filesystem::rename(dir + "/new", dir + "/" + name);
  }
  void set_on_the_server(const std::string& option, const std::string& value) const {
    const auto answer = redis_command(server->port(), {"CONFIG", "SET", option, value});
    EXPECT_FALSE(answer.is_error()) << answer.text;
  }

  std::unique_ptr<RedisServer> server =
      RedisServer::start_tls(certificates(), {"--tls-auth-clients", "yes"});
  std::string dir = server->dir() + "/credentials";
};

TEST_F(RedisCertificateRotation, OfTheCaReachesTheNextConnection) {
  Holder holder(spec());
  redis_command(server->port(), {"CONFIG", "SET", "tls-cert-file", certificates().unknown_ca().cert,
                                 "tls-key-file", certificates().unknown_ca().key});
  close_connections(*server);
  const auto refused = holder.renew();
  ASSERT_NE(unavailable_in(refused), nullptr) << reply_text(refused);
  EXPECT_EQ(unavailable_in(refused)->error.code, Code::tls);
  // when
  put("ca.crt", certificates().other_ca());
  const auto renewed = holder.renew();
  // then
  EXPECT_TRUE(is_renewed(renewed)) << reply_text(renewed);
}

TEST_F(RedisCertificateRotation, ThatIsIncompleteKeepsTheLastCertificateAndWarnsOnce) {
  Holder holder(spec());
  // when: the key does not belong to the certificate
  put("tls.crt", certificates().unknown_ca().cert);
  for (int i = 0; i < 2; ++i) {
    close_connections(*server);
    const auto renewed = holder.renew();
    EXPECT_TRUE(is_renewed(renewed)) << reply_text(renewed);
  }
  // then
  EXPECT_THAT(holder.warnings, ElementsAre(HasSubstr("is not the key of")));
  // when: the replacement is complete, and the server accepts only the new certificate
  put("tls.key", certificates().unknown_ca().key);
  set_on_the_server("tls-ca-cert-file", certificates().other_ca());
  close_connections(*server);
  const auto renewed = holder.renew();
  // then
  EXPECT_TRUE(is_renewed(renewed)) << reply_text(renewed);
  EXPECT_EQ(holder.warnings.size(), 1u);
}

// Names of files that were opened in a directory.
class Opened {
 public:
  explicit Opened(const std::string& dir) : inotify_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    EXPECT_GE(inotify_add_watch(inotify_.get(), dir.c_str(), IN_OPEN), 0);
  }
  bool any() const {
    alignas(inotify_event) char block[4096];
    bool found = false;
    while (read(inotify_.get(), block, sizeof block) > 0) found = true;
    return found;
  }

 private:
  Fd inotify_;
};

TEST_F(RedisCertificateRotation, ReadsFilesOfANewConnectionOnlyWhenTheyWereReplaced) {
  const Opened opened(dir);
  Holder holder(spec());
  EXPECT_TRUE(opened.any());
  // when: nothing was replaced
  close_connections(*server);
  EXPECT_TRUE(is_renewed(holder.renew()));
  EXPECT_FALSE(opened.any());
  // when: one file was replaced
  put("tls.key", certificates().client().key);
  (void)opened.any();
  close_connections(*server);
  EXPECT_TRUE(is_renewed(holder.renew()));
  EXPECT_TRUE(opened.any());
}

}  // namespace
}  // namespace cronlatch::testing
