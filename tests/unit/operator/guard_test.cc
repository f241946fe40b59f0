// SPDX-License-Identifier: Apache-2.0
#include "operator/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace cronlatch::op {
namespace {

using kube::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Gives prepared answers and notes what was asked.
class Pages final : public kube::Api {
 public:
  Result<kube::Response> call(const kube::Request& request) override {
    asked.push_back(request);
    if (answers.empty()) return Error{Code::unreachable, "no route"};
    auto next = answers.front();
    answers.pop_front();
    return next;
  }
  Result<kube::Response> watch(const kube::Request&,
                               const std::function<void(const kube::WatchEvent&)>&,
                               std::stop_token) override {
    return Error{Code::bug, "nobody watches"};
  }
  void add(const std::vector<Json>& items, const std::string& more = "") {
    answers.push_back(
        kube::Response{200, Json{{"metadata", {{"continue", more}}}, {"items", items}}});
  }

  std::deque<kube::Response> answers;
  std::vector<kube::Request> asked;
};

Json cronjob(const std::string& name) {
  return {{"metadata", {{"namespace", "shop"}, {"name", name}}},
          {"spec", {{"jobTemplate", {{"spec", {{"template", Json::object()}}}}}}}};
}
Json lock(const std::string& value) { return {{"cronlatch.dev/lock", value}}; }

TEST(Guard, FindsTheAnnotationInEachOfTheThreePlaces) {
  Json on_itself = cronjob("c"), on_template = cronjob("b"), on_pod = cronjob("a");
  on_itself["metadata"]["annotations"] = lock("true");
  on_template["spec"]["jobTemplate"]["metadata"]["annotations"] = lock("nightly");
  on_pod["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["annotations"] = lock("true");
  Pages api;
  api.add({on_itself, on_template, on_pod, cronjob("plain")});

  const auto names = gated_cronjobs(api);

  ASSERT_TRUE(names.ok());
  EXPECT_THAT(*names, ElementsAre("shop/a", "shop/b", "shop/c"));
}

TEST(Guard, TakesNoCronJobThatSaysFalseOrNothing) {
  Json off = cronjob("off"), other = cronjob("other");
  off["metadata"]["annotations"] = lock("false");
  other["metadata"]["annotations"] = {{"cronlatch.dev/ttl", "5m"}};
  Pages api;
  api.add({off, other, cronjob("plain"), Json::object(), Json("text")});

  const GuardAnswer answer = guard(api);

  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_THAT(answer.text, HasSubstr("no CronJob is gated"));
}

TEST(Guard, ReadsEveryPage) {
  Json gated = cronjob("late");
  gated["metadata"]["annotations"] = lock("true");
  Pages api;
  api.add({cronjob("early")}, "next");
  api.add({gated});

  const GuardAnswer answer = guard(api);

  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(answer.text, HasSubstr("  shop/late\n"));
  ASSERT_EQ(api.asked.size(), 2u);
  EXPECT_THAT(api.asked[1].query, ::testing::Contains(std::pair("continue", "next")));
}

TEST(Guard, SaysNoWhenItCannotSeeAll) {
  Pages nobody, forbidden, nonsense, half;
  forbidden.answers.push_back(kube::Response{403, Json{{"message", "cronjobs is forbidden"}}});
  nonsense.answers.push_back(kube::Response{200, Json("hello")});
  half.add({}, "next");

  for (Pages* api : {&nobody, &forbidden, &nonsense, &half}) {
    const GuardAnswer answer = guard(*api);
    EXPECT_NE(answer.exit_code, 0) << answer.text;
    EXPECT_THAT(answer.text, HasSubstr("cannot tell"));
  }
}

}  // namespace
}  // namespace cronlatch::op
