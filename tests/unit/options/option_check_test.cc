// SPDX-License-Identifier: Apache-2.0
// What only several options together can tell.
#include <gtest/gtest.h>

#include "core/store_schemes.h"
#include "options/options.h"

namespace cronlatch {
namespace {

Options over_tls() {
  Options options;
  options.store = "rediss://host";
  return options;
}

Error refusal(const Options& options) {
  const Status valid = validate(options);
  return valid.ok() ? Error{Code::bug, "accepted"} : valid.error();
}

Options strict_at(const std::string& store, int min_replicas) {
  Options options;
  options.store = store;
  options.strict = true;
  options.min_replicas = min_replicas;
  return options;
}

TEST(Validate, AcceptsStrictForOneRedisAndForSentinels) {
  for (const char* store : {"redis://h", "rediss://h"}) {
    EXPECT_TRUE(validate(strict_at(store, 0)).ok()) << store;
    EXPECT_TRUE(validate(strict_at(store, 2)).ok()) << store;
  }
  EXPECT_TRUE(validate(strict_at("redis+sentinel://a,b/m", 2)).ok());
  EXPECT_EQ(refusal(strict_at("redis+sentinel://a,b/m", 0)).message,
            "strict: min-replicas is 0, and the Sentinels can promote a replica");
}

// There is no quarantine: max-ttl bounds nothing.
TEST(Validate, AcceptsStrictForPostgresWithEachTtl) {
  for (const int min_replicas : {0, 2}) {
    Options options = strict_at("postgres://u@h/d", min_replicas);
    options.ttl = Millis(11 * 60'000);
    EXPECT_TRUE(validate(options).ok()) << min_replicas;
    EXPECT_EQ(strict_settings(options)->max_ttl, kMaxTtl);
  }
}

TEST(Validate, RefusesStrictByNameForEveryOtherStore) {
  for (const StoreScheme& scheme : store_schemes()) {
    if (!scheme.is_supported || scheme.name.find("sentinel") != std::string_view::npos) continue;
    if (scheme.name == "redis" || scheme.name == "rediss" || scheme.name == "postgres") continue;
    const Error error = refusal(strict_at(std::string(scheme.example), 1));
    EXPECT_EQ(error.code, Code::config) << scheme.name;
    EXPECT_EQ(error.message,
              "strict: a " + std::string(scheme.name) + ":// store cannot be strict");
  }
  EXPECT_EQ(refusal(strict_at("", 1)).message, "strict: a file store cannot be strict");
}

TEST(Validate, BoundsTheTtlOnlyWithStrict) {
  Options options = strict_at("redis://h", 0);
  options.ttl = Millis(11 * 60'000);
  EXPECT_EQ(refusal(options).message, "ttl: 11m is above max-ttl, which is 10m");
  options.max_ttl = options.ttl;
  EXPECT_TRUE(validate(options).ok());
  EXPECT_EQ(strict_settings(options)->quarantine(), Millis(11 * 60'000 + 6'600 + 700));
  options.max_ttl = Millis(5'000);
  options.strict = false;
  EXPECT_TRUE(validate(options).ok());
  EXPECT_FALSE(strict_settings(options));
  options.min_replicas = 1;
  EXPECT_EQ(refusal(options).message, "min-replicas is set without strict");
}

Options slots_at(const std::string& store, int slots) {
  Options options;
  options.store = store;
  options.slots = slots;
  return options;
}

TEST(Validate, RefusesSlotsByNameForStoresThatHaveOne) {
  for (const char* store : {"", "file:///run/x", "redis://h", "rediss://h",
                            "redis+sentinel://a,b/m", "rediss+cluster://a,b", "postgres://u@h/d"})
    EXPECT_TRUE(validate(slots_at(store, 3)).ok()) << store;
  const std::string hint =
      "set store to one redis://, redis+sentinel://, redis+cluster://, postgres:// or file:// URL, "
      "or remove slots";
  EXPECT_EQ(refusal(slots_at("redis://a,redis://b,redis://c", 3)),
            (Error{Code::config, "slots: 3 is above 1, and a quorum has one slot", hint}));
  EXPECT_TRUE(validate(slots_at("redis://a,redis://b,redis://c", 1)).ok());
}

TEST(Validate, RefusesSlotsForALockOfAnotherProgram) {
  Options file = slots_at("", 2), key = slots_at("redis://h", 2);
  file.lock_file = "/var/lock/a";
  key.key_format = KeyFormat::redlock;
  key.foreign_key = "a";
  EXPECT_EQ(refusal(file).message, "slots: 2 is above 1, and a lock-file has one holder");
  EXPECT_EQ(refusal(key).message,
            "slots: 2 is above 1, and a key of another program has one holder");
  file.slots = key.slots = 1;
  EXPECT_TRUE(validate(file).ok());
  EXPECT_TRUE(validate(key).ok());
  Options by_name = slots_at("", 2);
  by_name.lock = "_file/var/lock/a";
  EXPECT_EQ(refusal(by_name), refusal([&] {
              file.slots = 2;
              return file;
            }()))
      << "the name that such a lock has";
}

TEST(Validate, AcceptsTheDefaults) { EXPECT_TRUE(validate(Options{}).ok()); }

TEST(Validate, RefusesALockFileBesideALockOrWithoutAFileStore) {
  Options options;
  options.lock_file = "/var/lock/a";
  EXPECT_TRUE(validate(options).ok());
  options.store = "file:///run/x";
  EXPECT_TRUE(validate(options).ok());
  options.lock = "a";
  EXPECT_EQ(refusal(options).message,
            "lock and lock-file exclude each other: the file is the lock");
  options.lock = "_file/var/lock/a";
  EXPECT_TRUE(validate(options).ok()) << "the name that it has";
  for (const char* store : {"redis://h", "rediss://h"}) {
    options.store = store;
    EXPECT_EQ(refusal(options).message, "lock-file: the store is not a file store");
  }
}

TEST(Validate, RefusesAKeyOfAnotherProgramBesideALockOrWithoutRedis) {
  Options options;
  options.store = "redis://h";
  options.key_format = KeyFormat::golock;
  EXPECT_EQ(refusal(options).message, "key-format is set without foreign-key");
  options.foreign_key = "cronlock.a";
  EXPECT_TRUE(validate(options).ok());
  options.lock = "a";
  EXPECT_EQ(refusal(options).message,
            "lock and foreign-key exclude each other: the key is the lock");
  options.lock = "_cronlock/cronlock.a";
  EXPECT_TRUE(validate(options).ok()) << "the name that it has";
  for (const char* store : {"redis+sentinel://h/m", "rediss://h", "redis+cluster://h"}) {
    options.store = store;
    EXPECT_TRUE(validate(options).ok()) << store;
  }
  for (const char* store : {"", "file:///run/x", "postgres://u@h/d"}) {
    options.store = store;
    EXPECT_EQ(refusal(options).message, "key-format: the store is not a Redis store") << store;
    EXPECT_EQ(refusal(options).code, Code::config);
  }
  options.key_format = KeyFormat::native;
  options.store = "redis://h";
  EXPECT_EQ(refusal(options).message, "foreign-key is set without key-format");
  options.foreign_key = "";
  options.store = "file:///run/x";
  EXPECT_EQ(refusal(options).message,
            "lock \"_cronlock/cronlock.a\": the store is not a Redis store");
}

TEST(Validate, RefusesTheNameOfAKeyOfAnotherProgramWhereTheKeyIsRefused) {
  constexpr const char* kQuorum = "redis://a,redis://b,redis://c";
  Options options;
  options.lock = "_cronlock/cronlock.a";
  options.store = kQuorum;
  EXPECT_EQ(refusal(options).message,
            "lock \"_cronlock/cronlock.a\": only redlock libraries lock on a quorum of servers");
  options.store = "redis://h";
  EXPECT_TRUE(validate(options).ok());
  options.strict = true;
  EXPECT_EQ(refusal(options).message,
            "lock \"_cronlock/cronlock.a\" and strict exclude each other");
  options.lock = "_redlock/a";
  EXPECT_EQ(refusal(options).message, "lock \"_redlock/a\" and strict exclude each other");
  options.strict = false;
  options.store = kQuorum;
  EXPECT_TRUE(validate(options).ok());
  options.store = "redis://h";
  options.strict = true;
  options.lock = "_cronlock/";
  EXPECT_TRUE(validate(options).ok()) << "the name of no key";
}

TEST(Validate, AcceptsFullTls) {
  Options options = over_tls();
  options.tls_ca = "/ca";
  options.tls_cert = "/crt";
  options.tls_key = "/key";
  options.tls_server_name = "redis";
  options.redis_username = "u";
  options.password_file = "/p";
  EXPECT_TRUE(validate(options).ok());
}

TEST(Validate, RefusesACertificateWithoutItsKey) {
  Options options = over_tls();
  options.tls_cert = "/crt";
  EXPECT_EQ(refusal(options),
            (Error{Code::config, "tls-cert is set without tls-key", "set tls-key, too"}));
}

TEST(Validate, RefusesAKeyWithoutItsCertificate) {
  Options options = over_tls();
  options.tls_key = "/key";
  EXPECT_EQ(refusal(options),
            (Error{Code::config, "tls-key is set without tls-cert", "set tls-cert, too"}));
}

TEST(Validate, RefusesTlsOptionsForAStoreWithoutTls) {
  for (const char* store : {"", "file:///run/x", "redis://host"}) {
    Options ca, name = ca, skip = ca, pair = ca;
    ca.tls_ca = "/ca";
    name.tls_server_name = "redis";
    skip.tls_skip_verify = true;
    pair.tls_cert = pair.tls_key = "/x";
    for (Options* options : {&ca, &name, &skip, &pair}) options->store = store;
    EXPECT_EQ(refusal(ca).message, "tls-ca: the store does not use TLS") << store;
    EXPECT_EQ(refusal(name).message, "tls-server-name: the store does not use TLS") << store;
    EXPECT_EQ(refusal(skip).message, "tls-skip-verify: the store does not use TLS") << store;
    EXPECT_EQ(refusal(pair).message, "tls-cert: the store does not use TLS") << store;
    EXPECT_EQ(refusal(ca).code, Code::config) << store;
    EXPECT_NE(refusal(ca).hint.find("rediss://"), std::string::npos) << store;
  }
}

TEST(Validate, RefusesALoginForAFileStore) {
  Options user, password;
  user.redis_username = "u";
  password.password_file = "/p";
  EXPECT_EQ(refusal(user).message, "redis-username: a file store has no users");
  EXPECT_EQ(refusal(password).message, "password-file: a file store has no passwords");
}

TEST(Validate, RefusesTimingsThatCannotHold) {
  Options options;
  options.ttl = Millis(5'000);
  options.renew_every = Millis(4'000);
  const Error error = refusal(options);
  EXPECT_EQ(error.code, Code::config);
  EXPECT_NE(error.message.find("renew-every"), std::string::npos);
  EXPECT_NE(error.hint.find("smallest ttl"), std::string::npos);
}

TEST(Validate, AcceptsTheShortestAndTheLongestLease) {
  Options options;
  options.ttl = kMinTtl;
  EXPECT_TRUE(validate(options).ok());
  options.ttl = kMaxTtl;
  EXPECT_TRUE(validate(options).ok());
}

TEST(Validate, RefusesAFileForAnIsolatedRun) {
  Options options;
  options.isolated = true;
  EXPECT_TRUE(validate(options).ok());
  options.config = "/x.yaml";
  EXPECT_EQ(refusal(options).message, "config and isolated exclude each other");
}

// Those with TLS as a group: `rediss...`.
TEST(StoreOption, HelpNamesEverySupportedScheme) {
  const std::string_view help = find_option("store")->help;
  EXPECT_NE(help.find("`rediss...`"), help.npos);
  for (const StoreScheme& scheme : store_schemes()) {
    if (scheme.transport == StoreTransport::tls) continue;
    EXPECT_EQ(help.find("`" + std::string(scheme.name) + "://") != help.npos, scheme.is_supported)
        << scheme.name;
  }
}

}  // namespace
}  // namespace cronlatch
