// SPDX-License-Identifier: Apache-2.0
#include "operator/store_access.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "unit/config/fake_files.h"

namespace cronlatch::op {
namespace {

Settings settings() {
  Settings out;
  out.store = "rediss://runs@redis.test:7000/2";
  out.credentials_dir = "/c";
  out.defaults = {{"key-prefix", "prod:"},
                  {"tls-server-name", "redis.internal"},
                  {"redis-username", "runs"},
                  {"ttl", "5m"}};
  return out;
}

const FakeFiles kAll{{"/c/username", "operator\n"},
                     {"/c/password", "p\n"},
                     {"/c/ca.crt", "CA"},
                     {"/c/tls.crt", "C"},
                     {"/c/tls.key", "K"}};

TEST(StoreAccess, ReadsUserPasswordAndCertificatesFromTheDirectory) {
  const auto access = read_store_access(settings(), kAll);

  ASSERT_TRUE(access);
  EXPECT_EQ(access->spec.url, "rediss://runs@redis.test:7000/2");
  EXPECT_EQ(access->spec.username, "operator");
  EXPECT_EQ(access->spec.password.reveal(), "p");
  EXPECT_EQ(access->spec.tls_ca, "/c/ca.crt");
  EXPECT_EQ(access->spec.tls_cert, "/c/tls.crt");
  EXPECT_EQ(access->spec.tls_key, "/c/tls.key");
}

TEST(StoreAccess, UsesTheStoreOptionsOfTheRuns) {
  const auto access = read_store_access(settings(), FakeFiles{{"/c/password", "p"}});

  ASSERT_TRUE(access);
  EXPECT_EQ(access->spec.key_prefix, "prod:");
  EXPECT_EQ(access->spec.tls_server_name, "redis.internal");
  EXPECT_EQ(access->spec.username, "runs");
}

TEST(StoreAccess, IsStrictLikeTheRuns) {
  Settings strict = settings();
  EXPECT_FALSE(read_store_access(strict, kAll)->spec.strict);
  strict.defaults.insert({{"strict", "true"}, {"min-replicas", "2"}, {"max-ttl", "5m"}});
  const auto access = read_store_access(strict, kAll);
  ASSERT_TRUE(access && access->spec.strict);
  EXPECT_EQ(access->spec.strict->min_replicas, 2U);
  EXPECT_EQ(access->spec.strict->max_ttl, Millis(300'000));
}

TEST(StoreAccess, ChangesItsStampWithAnyFile) {
  const auto before = read_store_access(settings(), kAll);
  const auto same = read_store_access(settings(), kAll);
  const auto rotated = read_store_access(settings(), FakeFiles{{"/c/username", "operator\n"},
                                                               {"/c/password", "p\n"},
                                                               {"/c/ca.crt", "CA"},
                                                               {"/c/tls.crt", "C2"},
                                                               {"/c/tls.key", "K"}});

  EXPECT_EQ(before->stamp, same->stamp);
  EXPECT_NE(before->stamp, rotated->stamp);
}

// Files whose password is replaced after `reads` reads.
class RotatingFiles final : public Files {
 public:
  explicit RotatingFiles(int reads) : reads_(reads) {}
  FileText read(const std::string& path) const override {
    if (path != "/c/password") return {"", ENOENT};
    return {seen_++ < reads_ ? "old" : "new", 0};
  }
  bool exists(const std::string& path) const override {
    return path == "/c/." || path == "/c/password";
  }

 private:
  int reads_;
  mutable int seen_ = 0;
};

TEST(StoreAccess, StampIsNeverNewerThanThePassword) {
  const auto later = read_store_access(settings(), RotatingFiles(0));
  ASSERT_TRUE(later);
  for (int reads = 0; reads < 5; ++reads) {
    const auto access = read_store_access(settings(), RotatingFiles(reads));
    ASSERT_TRUE(access);
    if (access->stamp == later->stamp) {
      EXPECT_EQ(access->spec.password.reveal(), "new") << reads;
    }
  }
}

TEST(StoreAccess, NamesTheFileThatCannotBeRead) {
  FakeFiles files{{"/c/username", "u"}};
  files.errors["/c/password"] = EACCES;

  const auto access = read_store_access(settings(), files);

  ASSERT_FALSE(access);
  EXPECT_NE(access.error().message.find("/c/password"), std::string::npos);
}

TEST(StoreAccess, NamesTheStoreByHostAndPort) {
  Settings s = settings();
  EXPECT_EQ(store_endpoint(s), "redis.test:7000");
  s.store = "file:///var/lock/jobs";
  EXPECT_EQ(store_endpoint(s), "/var/lock/jobs");
  s.store = "postgres://cron@db1.test,[fd00::7]:6432/cronlatch?sslmode=require";
  EXPECT_EQ(store_endpoint(s), "db1.test:5432,[fd00::7]:6432");
  s.store = "";
  EXPECT_EQ(store_endpoint(s), "");
}

TEST(StoreAccess, WarnsOfAPostgresServerThatIsNotVerified) {
  Settings s = settings();
  EXPECT_FALSE(store_warning(s));
  s.store = "postgres://cron@db.test/cronlatch";
  EXPECT_FALSE(store_warning(s));
  s.store += "?sslmode=require";
  ASSERT_TRUE(store_warning(s));
  EXPECT_EQ(store_warning(s)->event, "tls_unverified");
  s.store = "postgres://cron@db.test/cronlatch?sslmode=disable";
  ASSERT_TRUE(store_warning(s));
  EXPECT_EQ(store_warning(s)->event, "tls_disabled");
  s.store = "";
  EXPECT_FALSE(store_warning(s));
}

}  // namespace
}  // namespace cronlatch::op
