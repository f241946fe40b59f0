// SPDX-License-Identifier: Apache-2.0
#include "admission/annotations.h"

#include <gtest/gtest.h>

#include "admission/lock_request.h"

namespace cronlatch::op {
namespace {

using kube::Json;

Settings platform() {
  Settings settings;
  settings.image = "cronlatch:1";
  settings.store = "redis://redis:6379";
  return settings;
}

// The error of one annotation; "": none.
std::string error_of(const std::string& key, const std::string& value,
                     const Settings& settings = platform()) {
  Findings findings;
  const Annotations annotations = {{"lock", {"x", "here[lock]"}}, {key, {value, "here"}}};
  (void)read_lock_request(annotations, settings, "demo", findings);
  return findings.empty() ? "" : findings.error().message;
}

// `cronlatch.dev/ttl: "2m"` -> 2m
std::string value_in(const std::string& example) {
  const std::size_t at = example.find(": ");
  return example.substr(at + 3, example.size() - at - 4);
}

TEST(Annotations, EachExampleIsAccepted) {
  std::vector<std::string_view> keys = extra_annotations();
  for (const Option& option : option_table())
    if (option.annotatable()) keys.push_back(option.key);
  for (const std::string_view key : keys) {
    const std::string example = example_of(key);
    EXPECT_TRUE(example.starts_with("cronlatch.dev/" + std::string(key) + ": ")) << example;
    if (key == "lock") continue;
    EXPECT_EQ(error_of(std::string(key), value_in(example)), "") << example;
  }
}

TEST(Annotations, NoneChangesTheStoreOrItsChecks) {
  for (const Option& option : option_table()) {
    if (option.scope != Scope::store && option.scope != Scope::flag_only) continue;
    EXPECT_FALSE(is_annotation(option.key)) << option.key;
    EXPECT_NE(error_of(std::string(option.key), "x"), "") << option.key;
  }
}

TEST(Annotations, AnUnknownKeyNamesTheNearestOne) {
  EXPECT_EQ(error_of("on-bsuy", "wait"),
            "here: unknown annotation; did you mean cronlatch.dev/on-busy: \"skip\"?");
  EXPECT_EQ(error_of("store-secrets", "x").substr(0, 67),
            "here: unknown annotation; did you mean cronlatch.dev/store-secret: ");
}

TEST(Annotations, AreReadWithTheirPath) {
  Findings findings;
  const Json object = {{"metadata",
                        {{"annotations",
                          {{"cronlatch.dev/ttl", "5m"},
                           {"cronlatch.dev/mirrored", "ttl"},
                           {"cronlatch.dev/injected", "1"},
                           {"other.example/cronlatch.dev", "x"}}}}}};
  const Annotations found = annotations_at(object, {"metadata"}, "metadata", findings);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.at("ttl").value, "5m");
  EXPECT_EQ(found.at("ttl").where, "metadata.annotations[cronlatch.dev/ttl]");
  EXPECT_TRUE(findings.empty());
}

TEST(Annotations, OfTwoPlacesMustBeEqual) {
  Findings findings;
  Annotations all = {{"ttl", {"5m", "here"}}};
  merge(all, {{"ttl", {"5m", "there"}}, {"lock", {"true", "there"}}}, findings);
  EXPECT_TRUE(findings.empty());
  EXPECT_EQ(all.size(), 2U);
  merge(all, {{"ttl", {"6m", "elsewhere"}}}, findings);
  EXPECT_EQ(findings.error().message,
            "elsewhere: the value differs from here; remove one of the two (\"6m\" and \"5m\")");
}

TEST(Selection, MatchesNamespaceNameAndLabels) {
  Settings settings = platform();
  settings.select = {{"demo", "night*", {{"team", "a"}}, {{"lock", "true"}}}};
  const auto chosen = [&](const char* space, const char* name, const char* team) {
    Findings findings;
    const Json cronjob = {
        {"metadata", {{"namespace", space}, {"name", name}, {"labels", {{"team", team}}}}}};
    return selected_annotations(settings, cronjob, findings).count("lock") == 1;
  };
  EXPECT_TRUE(chosen("demo", "nightly", "a"));
  EXPECT_TRUE(chosen("demo", "night", "a"));
  EXPECT_FALSE(chosen("demo2", "nightly", "a"));
  EXPECT_FALSE(chosen("demo", "daily", "a"));
  EXPECT_FALSE(chosen("demo", "nightly", "b"));
}

TEST(Selection, MatchesTheNameThatTheServerGenerates) {
  Settings settings = platform();
  settings.select = {{"demo", "night-?????", {}, {{"lock", "true"}}}};
  const auto chosen = [&](const char* prefix) {
    Findings findings;
    const Json cronjob = {{"metadata", {{"namespace", "demo"}, {"generateName", prefix}}}};
    return selected_annotations(settings, cronjob, findings).count("lock") == 1;
  };
  EXPECT_TRUE(chosen("night-"));
  EXPECT_FALSE(chosen("day-"));
}

TEST(LockRequest, RefusesOtherWordsForTrueAndFalse) {
  const auto lock = [](const std::string& value) {
    Findings findings;
    (void)read_lock_request({{"lock", {value, "here"}}}, platform(), "demo", findings);
    return findings.empty();
  };
  for (const char* word : {"yes", "No", "TRUE", "False", "on", "OFF", "1", "0", "y", "", "enabled"})
    EXPECT_FALSE(lock(word)) << word;
  for (const char* name : {"true", "false", "nightly", "yes-really", "team/a", "10"})
    EXPECT_TRUE(lock(name)) << name;
}

TEST(LockRequest, NamesTheLockInItsNamespace) {
  LockRequest request;
  EXPECT_EQ(full_lock_name(request, "demo", "nightly").value(), "demo/nightly");
  request.lock = "reports";
  EXPECT_EQ(full_lock_name(request, "demo", "nightly").value(), "demo/reports");
  request.scope = LockScope::cluster;
  EXPECT_EQ(full_lock_name(request, "demo", "nightly").value(), "_cluster/reports");
  request.lock = std::string(200, 'x');
  EXPECT_FALSE(full_lock_name(request, "demo", "nightly").ok());
}

TEST(LockRequest, AnnotationsTakePrecedenceOverDefaults) {
  Settings settings = platform();
  settings.defaults = {{"ttl", "3m"}, {"on-busy", "wait"}, {"key-prefix", "prod:"}};
  Findings findings;
  const LockRequest request =
      read_lock_request({{"ttl", {"5m", "here"}}}, settings, "demo", findings);
  EXPECT_EQ(request.options.ttl, Millis(300'000));
  EXPECT_EQ(request.options.on_busy, OnBusy::wait);
  EXPECT_EQ(request.options.key_prefix, "prod:");
  EXPECT_EQ(request.annotated.count("ttl"), 1U);
  EXPECT_EQ(request.annotated.count("on-busy"), 0U);
  EXPECT_EQ(request.decided.size(), 3U);
}

}  // namespace
}  // namespace cronlatch::op
