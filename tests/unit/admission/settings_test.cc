// SPDX-License-Identifier: Apache-2.0
#include "admission/settings.h"

#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

constexpr char kMinimal[] = "image: cronlatch:1\nstore: rediss://redis:6379\n";

Result<Settings> parse(const std::string& more) { return parse_settings(kMinimal + more); }

std::string error_of(const std::string& more) {
  const Result<Settings> settings = parse(more);
  return settings.ok() ? "accepted" : settings.error().message;
}

TEST(Settings, HaveTheDefaultsOfTheTable) {
  const Result<Settings> settings = parse("");
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  std::string all;
  for (const SettingRow& row : setting_rows()) {
    EXPECT_FALSE(row.help.empty()) << row.key;
    if (row.fallback.empty()) continue;
    all += std::string(row.key) + ": " +
           (row.fallback.starts_with("[:")  // an address, not a list
                ? "\"" + std::string(row.fallback) + "\""
                : std::string(row.fallback)) +
           "\n";
  }
  const Result<Settings> spelled = parse(all);
  ASSERT_TRUE(spelled.ok()) << spelled.error().message;
  EXPECT_EQ(spelled->admission_address, settings->admission_address);
  EXPECT_EQ(spelled->plain_address, settings->plain_address);
  EXPECT_EQ(spelled->namespace_name, settings->namespace_name);
  EXPECT_EQ(spelled->name, settings->name);
  EXPECT_EQ(spelled->image_pull_policy, settings->image_pull_policy);
  EXPECT_EQ(spelled->injection, settings->injection);
  EXPECT_EQ(spelled->store_secret, settings->store_secret);
  EXPECT_EQ(spelled->resources, settings->resources);
  EXPECT_EQ(spelled->certificate_mode, settings->certificate_mode);
  EXPECT_EQ(spelled->certificate_dir, settings->certificate_dir);
  EXPECT_EQ(spelled->credentials_dir, settings->credentials_dir);
  EXPECT_EQ(spelled->patch_cronjobs, settings->patch_cronjobs);
  EXPECT_EQ(spelled->lookup, settings->lookup);
  EXPECT_EQ(spelled->lookup_timeout, settings->lookup_timeout);
  EXPECT_EQ(spelled->lookup_cache_size, settings->lookup_cache_size);
  EXPECT_EQ(spelled->lookup_pin, settings->lookup_pin);
  EXPECT_EQ(spelled->lookup_architectures, settings->lookup_architectures);
  EXPECT_EQ(spelled->lookup_program, settings->lookup_program);
  EXPECT_EQ(spelled->lock_histograms, settings->lock_histograms);
  EXPECT_EQ(spelled->log_format, settings->log_format);
  EXPECT_EQ(spelled->log_level, settings->log_level);
}

TEST(Settings, ReadTheInjection) {
  EXPECT_EQ(parse("")->injection, InjectionMode::init_container);
  EXPECT_EQ(parse("injection: auto")->injection, InjectionMode::automatic);
  EXPECT_EQ(parse("injection: image-volume")->injection, InjectionMode::image_volume);
  EXPECT_EQ(error_of("injection: volume"),
            "settings:3: injection: \"volume\" is not one of auto, image-volume, init-container");
}

TEST(Settings, ParseEveryType) {
  const Result<Settings> settings = parse(R"(
image-pull-secrets: [a, b]
resources: {requests: {cpu: 1, memory: 16Mi}}
defaults: {ttl: 3m, key-prefix: "prod:"}
cluster-lock-namespaces: [ops]
image-index: {pg: [/entry, postgres]}
select:
- {namespace: demo, name: "n*", labels: {a: b}, annotations: {lock: "true"}}
certificate-mode: files
patch-cronjobs: false
lock-histograms: true
log-format: logfmt
log-level: debug
)");
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  EXPECT_EQ(settings->image_pull_secrets, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(settings->resources, (kube::Json{{"requests", {{"cpu", "1"}, {"memory", "16Mi"}}}}));
  EXPECT_EQ(settings->defaults.at("key-prefix"), "prod:");
  EXPECT_EQ(settings->cluster_lock_namespaces, std::vector<std::string>{"ops"});
  EXPECT_EQ(settings->image_index.at("pg").size(), 2U);
  ASSERT_EQ(settings->select.size(), 1U);
  EXPECT_EQ(settings->select[0].namespace_name, "demo");
  EXPECT_EQ(settings->select[0].annotations.at("lock"), "true");
  EXPECT_EQ(settings->certificate_mode, CertificateMode::files);
  EXPECT_FALSE(settings->patch_cronjobs);
  EXPECT_TRUE(settings->lock_histograms);
  EXPECT_EQ(settings->log_format, LogFormat::logfmt);
  EXPECT_EQ(settings->log_level, Level::debug);
}

TEST(Settings, ErrorsNameLineKeyAndFix) {
  const Result<Settings> settings = parse("plain-adress: x\n");
  ASSERT_FALSE(settings.ok());
  EXPECT_EQ(settings.error(), (Error{Code::usage, "settings:3: unknown key \"plain-adress\"",
                                     "did you mean plain-address?"}));
  EXPECT_EQ(error_of("name: a\nname: b\n"), "settings:4: the key \"name\" is also in line 3");
  EXPECT_EQ(error_of("log-level: loud\n").substr(0, 22), "settings:3: log-level:");
  EXPECT_EQ(error_of("name: [a]\n"), "settings:3: name: the value is not a scalar");
  EXPECT_EQ(error_of("name:\n"), "settings:3: name: the value is missing");
  EXPECT_EQ(error_of("patch-cronjobs: yes\n"),
            "settings:3: patch-cronjobs: \"yes\" is not one of true, false");
  EXPECT_EQ(error_of("plain-address: x\n").substr(0, 26), "settings:3: plain-address:");
  EXPECT_EQ(error_of("cluster-name: a@b\n").substr(0, 34), "settings:3: cluster-name: \"a@b\" is");
  EXPECT_EQ(error_of("cluster-name: " + std::string(63, 'a') + "\n"), "accepted");
  EXPECT_NE(error_of("cluster-name: " + std::string(64, 'a') + "\n"), "accepted");
  EXPECT_EQ(parse_settings("[a]").error().message, "settings:1: the settings are not a map");
  EXPECT_EQ(parse_settings("store: redis://x").error().message,
            "settings:1: image: the setting is missing");
  EXPECT_EQ(error_of("").substr(0, 8), "accepted");
  EXPECT_EQ(
      parse_settings("image: foo bar").error().message,
      "settings:1: image: \"foo bar\" is not the name of an image: its repository is invalid");
  EXPECT_TRUE(parse_settings("image: x").ok());  // the store may be set later
}

TEST(Settings, EventsSkipContainsReasonsOfOptionalEvents) {
  const auto settings = parse("events-skip: [Acquired, Skipped]\nevents-per-second: 7\n");
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  EXPECT_EQ(settings->events_skip, (std::vector<std::string>{"Acquired", "Skipped"}));
  EXPECT_EQ(settings->events_per_second, 7U);

  const auto unknown = parse("events-skip: [Skip]\n");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message,
            "settings:3: events-skip: \"Skip\" is not the reason of an Event");
  EXPECT_TRUE(unknown.error().hint.starts_with("allowed is Acquired, Busy, "))
      << unknown.error().hint;
  EXPECT_NE(unknown.error().hint.find("Skipped"), std::string::npos);
  EXPECT_EQ(unknown.error().hint.find("AdmissionBypassed"), std::string::npos);
  EXPECT_EQ(error_of("events-skip: [AdmissionBypassed]\n"),
            "settings:3: events-skip: AdmissionBypassed is always written");
  EXPECT_NE(error_of("events-per-second: 0\n"), "accepted");
}

TEST(Settings, ASelectionIsInAServedNamespace) {
  const std::string rule = "select: [{namespace: demo, annotations: {lock: \"true\"}}]\n";
  EXPECT_EQ(error_of("namespaces: [demo, shop]\n" + rule), "accepted");
  EXPECT_EQ(error_of(rule + "namespaces: [shop]\n"),
            "settings:3: select[0]: namespace demo is not in namespaces");
}

TEST(Settings, DefaultsAllowOnlyOptionsForAllRuns) {
  for (const char* key : {"lock", "job", "store", "once-per", "attempt-group", "holder",
                          "credentials-dir", "password-file", "tls-ca", "tls-key", "outcome-file",
                          "metrics-file", "config", "isolated", "exit-skipped"})
    EXPECT_NE(error_of("defaults: {" + std::string(key) + ": x}\n"), "accepted") << key;
  EXPECT_NE(error_of("defaults: {ttl: 3}\n"), "accepted");
  EXPECT_NE(error_of("defaults: {ttl: 5s, renew-every: 4s}\n"), "accepted");
  EXPECT_EQ(error_of("defaults: {tll: 3m}\n"), "settings:3: defaults: unknown option \"tll\"");
}

std::string error_of_store(const std::string& url, const std::string& more = "") {
  const Result<Settings> settings = parse_settings("image: i\nstore: " + url + "\n" + more);
  return settings.ok() ? "accepted" : settings.error().message + "; " + settings.error().hint;
}

TEST(Settings, AcceptEverySchemeOfAStore) {
  for (const char* url :
       {"rediss://cron@redis.test/1", "redis://redis.test", "rediss+sentinel://s1,s2,s3/mymaster",
        "rediss+cluster://n1,n2", "postgres://cron@db.test/cronlatch",
        "postgres://db.test/cronlatch",
        "postgres://cron@db1.test,db2.test:6432/cronlatch?target_session_attrs=read-write",
        "postgres://cron@db.test/cronlatch?sslmode=verify-full",
        "postgres://cron@db.test/cronlatch?sslmode=require",
        "postgres://cron@db.test/cronlatch?sslmode=disable"})
    EXPECT_EQ(error_of_store(url), "accepted") << url;
}

TEST(Settings, RefuseAUrlThatNoRunCouldUse) {
  for (const char* url :
       {"postgres://cron@db.test", "postgres://cron@db.test/cronlatch?sslmode=prefer",
        "postgres://cron@db.test/cronlatch?connect_timeout=3", "postgres://cron@/cronlatch",
        "postgresql://cron@db.test/cronlatch", "rediss://redis.test:0", "http://redis.test"})
    EXPECT_EQ(error_of_store(url).substr(0, 18), "settings:2: store:") << url;
  EXPECT_NE(error_of_store("postgres://cron@db.test/a?sslmode=prefer").find("verify-full, require"),
            std::string::npos);
  const std::string secret = error_of_store("postgres://cron:canary@db.test/cronlatch");
  EXPECT_NE(secret.find("contains a password"), std::string::npos) << secret;
  EXPECT_EQ(secret.find("canary"), std::string::npos) << secret;
}

TEST(Settings, RefuseDefaultsThatTheStoreDoesNotHave) {
  const std::string plain = "postgres://cron@db.test/cronlatch?sslmode=disable";
  EXPECT_NE(error_of_store(plain, "defaults: {tls-server-name: db}\n").find("without TLS"),
            std::string::npos);
  EXPECT_NE(error_of_store(plain, "defaults: {tls-skip-verify: true}\n").find("without TLS"),
            std::string::npos);
  EXPECT_EQ(error_of_store(plain, "defaults: {tls-skip-verify: false}\n"), "accepted");
  const std::string verified = "postgres://cron@db.test/cronlatch";
  EXPECT_EQ(error_of_store(verified, "defaults: {tls-server-name: db}\n"), "accepted");
  EXPECT_NE(error_of_store(verified, "defaults: {sentinel-username: a}\n").find("no Sentinels"),
            std::string::npos);
}

TEST(Settings, RefuseStrictAndAQuorumThatCannotWork) {
  const std::string quorum = "rediss://r1,rediss://r2,rediss://r3";
  const std::string sentinels = "rediss+sentinel://s1,s2,s3/m";
  EXPECT_EQ(error_of_store(quorum, "defaults: {max-ttl: 15m, ttl: 15m}\n"), "accepted");
  EXPECT_EQ(error_of_store(sentinels, "defaults: {strict: true, min-replicas: 2}\n"), "accepted");
  const struct {
    std::string url, defaults, error;
  } cases[] = {
      {"rediss://r1,rediss://r2", "", "it has 2 servers"},
      {"rediss://r1,rediss://r2,rediss://r3,rediss://r4", "", "it has 4 servers"},
      {"rediss://r1,rediss://r2,rediss://r1", "", "is listed twice"},
      {quorum, "strict: true", "a quorum cannot be strict"},
      {quorum, "ttl: 11m", "ttl: 11m is above max-ttl"},
      {quorum, "slots: 2", "slots cannot be set for all runs"},
      {"rediss+cluster://n1,n2", "strict: true", "rediss+cluster:// store cannot be strict"},
      {sentinels, "strict: true", "min-replicas is 0"},
      {"rediss://r1", "min-replicas: 1", "min-replicas is set without strict"},
  };
  for (const auto& [url, defaults, error] : cases)
    EXPECT_NE(error_of_store(url, "defaults: {" + defaults + "}\n").find(error), std::string::npos)
        << url << " " << defaults << ": " << error_of_store(url, "defaults: {" + defaults + "}\n");
}

TEST(Settings, TheRedisOfTheChartIsOneServerWithTls) {
  const auto settings = parse(
      "store-server: true\nstore-server-namespaces: [shop]\n"
      "store-server-namespace-labels: {team: reports}\n");
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  EXPECT_TRUE(settings->store_server);
  EXPECT_EQ(settings->store_server_namespaces, std::vector<std::string>{"shop"});
  EXPECT_EQ(settings->store_server_namespace_labels.at("team"), "reports");
  for (const std::string url :
       {"redis://redis:6379", "rediss+cluster://a,b", "rediss+sentinel://a,b,c/m",
        "rediss://a,rediss://b,rediss://c", "postgres://db/locks", "file:///locks"}) {
    const auto refused = parse_settings("image: i\nstore-server: true\nstore: " + url + "\n");
    ASSERT_FALSE(refused.ok()) << url;
    EXPECT_NE(refused.error().message.find("one server with TLS"), std::string::npos) << url;
  }
  EXPECT_NE(error_of("store-server: true\ncopy-secret-source: a\ncopy-secret-namespaces: [b]\n")
                .find("copy-secret-source is set, too"),
            std::string::npos);
  for (const std::string option : {"strict: \"true\"", "redis-username: a", "tls-server-name: a"})
    EXPECT_NE(error_of("store-server: true\ndefaults: {" + option + "}\n").find("does not apply"),
              std::string::npos)
        << option;
}

TEST(Settings, SelectionsAreChecked) {
  EXPECT_EQ(error_of("select: [{name: x, annotations: {lock: \"true\"}}]\n"),
            "settings:3: select[0]: the namespace is missing");
  EXPECT_EQ(error_of("select: [{namespace: x, annotations: {ttl: 5m}}]\n"),
            "settings:3: select[0]: the annotation lock is missing");
  EXPECT_EQ(
      error_of("select: [{namespace: x, annotations: {lock: \"true\", tll: 5m}}]\n").substr(0, 39),
      "settings:3: select[0].annotations[tll]:");
  EXPECT_EQ(error_of("select: [{namespace: x, lock: a}]\n"),
            "settings:3: select: [0]: unknown key \"lock\"");
  EXPECT_EQ(error_of("select: [{namespace: x, name: \"a[b]\", annotations: {lock: \"true\"}}]\n"),
            "settings:3: select[0]: name \"a[b]\" has a character that is not allowed");
}

}  // namespace
}  // namespace cronlatch::op
