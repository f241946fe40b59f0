// SPDX-License-Identifier: Apache-2.0
#include "operator/status_page.h"

#include <gtest/gtest.h>

#include "core/lock_json.h"
#include "kube/json.h"

namespace cronlatch::op {
namespace {

using kube::Json;
using kube::string_at;

LockView held() {
  LockView view;
  view.lock = "demo/nightly";
  view.state = LockState::held;
  view.identity = {.holder = "demo/nightly-1-x", .job = "demo/nightly", .group = "g", .once = "o"};
  view.fence = 1'763'690'000'123'456;
  view.acquired = {1'763'690'000'123'456};
  view.jobs["demo/nightly"].values = {{"acquired", 3}, {"released", 2}};
  return view;
}

StatusFacts facts() { return {"1.2.3", "redis.test:6379", true, WallTime{1'763'690'000'000'000}}; }

TEST(StatusPage, ContainsVersionStoreAndLocks) {
  const auto copy = std::make_shared<const LockStatsCopy>(LockStatsCopy{{held(), LockView{}}, {}});
  const std::string text = status_page(facts(), {copy, WallTime{1'763'689'990'000'000}, true, ""});

  const auto page = kube::parse_json(text);
  ASSERT_TRUE(page) << text;
  EXPECT_EQ((*page)["v"], 1);
  EXPECT_EQ(string_at(*page, {"time"}), "2025-11-21T01:53:20Z");
  EXPECT_EQ(string_at(*page, {"version"}), "1.2.3");
  EXPECT_EQ((*page)["leader"], true);
  EXPECT_EQ((*page)["store"], (Json{{"endpoint", "redis.test:6379"},
                                    {"up", true},
                                    {"read", "2025-11-21T01:53:10Z"},
                                    {"error", ""},
                                    {"servers", Json::array()}}));
  ASSERT_EQ((*page)["locks"].size(), 2U);
  EXPECT_EQ((*page)["locks"][0], *kube::parse_json(lock_json(held())));
}

TEST(StatusPage, ContainsEachServerOfAQuorum) {
  Exporter::Status status;
  status.up = true;
  status.servers = {{.endpoint = "r1:6379", .took = Micros(800)},
                    {.endpoint = "r2:6379",
                     .error = Error{Code::unreachable, "redis at r2:6379: connection refused"},
                     .took = Micros(90)}};

  const auto page = kube::parse_json(status_page(facts(), status));

  ASSERT_TRUE(page);
  EXPECT_EQ(
      (*page)["store"]["servers"],
      Json::array({{{"endpoint", "r1:6379"}, {"up", true}, {"latency_us", 800}, {"error", ""}},
                   {{"endpoint", "r2:6379"},
                    {"up", false},
                    {"latency_us", 90},
                    {"error", "redis at r2:6379: connection refused"}}}));
}

TEST(StatusPage, HasNoLocksBeforeTheFirstRead) {
  const auto page = kube::parse_json(status_page(facts(), {nullptr, {}, false, "refused"}));

  ASSERT_TRUE(page);
  EXPECT_TRUE((*page)["store"]["read"].is_null());
  EXPECT_EQ((*page)["store"]["error"], "refused");
  EXPECT_TRUE((*page)["locks"].empty());
}

TEST(StatusPage, ReportsThatNoStoreIsConfigured) {
  StatusFacts none = facts();
  none.endpoint = "";

  const auto page = kube::parse_json(status_page(none, {}));

  EXPECT_EQ(string_at(*page, {"store", "error"}), "no store is configured");
}

TEST(StatusPage, ContainsThisClusterAndOthersWithTheSameStore) {
  StatusFacts east = facts();
  east.cluster = "east";
  LockView ours = held();
  ours.identity.holder = "demo/a@east";
  LockView theirs = held();
  theirs.identity.holder = "demo/a@west";
  const auto copy = std::make_shared<const LockStatsCopy>(LockStatsCopy{{ours, theirs}, {}});

  const auto page = kube::parse_json(status_page(east, {copy, WallTime{1}, true, ""}));

  EXPECT_EQ(string_at(*page, {"cluster"}), "east");
  EXPECT_EQ((*page)["other_clusters"], Json::array({"west"}));
  EXPECT_EQ(string_at((*page)["locks"][0], {"holder"}), "demo/a@east");
}

TEST(StatusPage, ReportsNoOtherClusterWithoutAnOwnName) {
  LockView theirs = held();
  theirs.identity.holder = "demo/a@west";
  const auto copy = std::make_shared<const LockStatsCopy>(LockStatsCopy{{theirs}, {}});

  const auto page = kube::parse_json(status_page(facts(), {copy, WallTime{1}, true, ""}));

  EXPECT_TRUE((*page)["cluster"].is_null());
  EXPECT_EQ((*page)["other_clusters"], Json::array());
}

}  // namespace
}  // namespace cronlatch::op
