// SPDX-License-Identifier: Apache-2.0
// The table and the description of one CronJob, with and without the operator's status page.
#include "plugin/list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/lock_json.h"
#include "plugin/describe.h"
#include "plugin/why.h"
#include "recorded.h"

namespace cronlatch::plugin {
namespace {

using ::testing::HasSubstr;

kube::Json entry(const Output& page, const std::string& name) {
  for (const kube::Json& one : page.json["cronjobs"])
    if (one["cronjob"] == name) return one;
  ADD_FAILURE() << "no " << name;
  return {};
}

constexpr char kPage[] = R"({"v":1,"time":"2026-11-22T06:27:40Z","version":"0.1.0","leader":true,
"store":{"endpoint":"redis:6379","up":true,"read":"2026-11-22T06:27:30Z","error":""},"locks":[
{"lock":"shop/nightly","state":"held","holder":"shop/p-1","job":"shop/nightly","fence":"17","attempt":1,
"since":"2026-11-22T06:20:03Z","expires":"2026-11-22T06:28:10Z","ttl_ms":120000,"pid":null,"counters":{},
"jobs":[{"job":"shop/nightly","counters":{"acquired":4,"skipped_held":9,"stolen":1,"lost":0,
"last_success":"2026-11-22T05:00:00Z","last_skip":"2026-11-22T06:21:01Z"}}]}]})";

Cluster live() {
  Cluster cluster = recorded();
  cluster.status_page = read_status_page(kPage).value();
  return cluster;
}

TEST(Listing, ContainsTheLockStateOfTheStatusPage) {
  const kube::Json nightly = entry(list_output(live(), Namespaces::all, Width::normal), "nightly");

  EXPECT_EQ(nightly["state"], "held");
  EXPECT_EQ(nightly["holder"], "shop/p-1");
  EXPECT_EQ(nightly["since"], "2026-11-22T06:20:03Z");
  EXPECT_EQ(nightly["expires"], "2026-11-22T06:28:10Z");
  EXPECT_EQ(nightly["lastSuccess"], "2026-11-22T05:00:00Z");
  EXPECT_EQ(nightly["lastSkip"], "2026-11-22T06:21:01Z");
  EXPECT_EQ(nightly["lastSkipReason"], "held by shop/nightly-holds-ppx9d");
  EXPECT_EQ(nightly["next"], "2026-11-23T01:00:00Z");
  EXPECT_EQ(nightly["counters"]["skipped_held"], 9);
  // 80 s of a ttl of 120 s since the renewal when the store was read; skipped 9 of 13 times.
  EXPECT_EQ(nightly["advice"].size(), 2u);
}

TEST(Listing, DerivesTheStateFromPodsWithoutTheStatusPageAndReportsThis) {
  const Output page = list_output(recorded(), Namespaces::all, Width::normal);

  const kube::Json nightly = entry(page, "nightly");
  EXPECT_EQ(nightly["state"], "running");
  EXPECT_EQ(nightly["holder"], "shop/nightly-holds-ppx9d");
  EXPECT_THAT(page.sections.back().lines.front(), HasSubstr("no live lock state (not found)"));
}

TEST(Listing, ReportsTheAgeOfTheState) {
  Cluster cluster = live();
  EXPECT_EQ(list_output(cluster, Namespaces::all, Width::normal).json["caution"], nullptr);
  cluster.now.us += 300'000'000;
  const Output old = list_output(cluster, Namespaces::all, Width::normal);
  EXPECT_EQ(old.json["caution"], "the lock state is old");
  EXPECT_THAT(old.sections.back().lines.front(), HasSubstr("from 5m ago"));
  cluster.status_page->store_up = false;
  cluster.status_page->error = "connection refused";
  EXPECT_THAT(list_output(cluster, Namespaces::all, Width::normal).json["caution"],
              HasSubstr("connection refused"));
}

// ---- the servers of a quorum ----

Cluster with_servers(const std::string& servers) {
  std::string text = kPage;
  text.insert(text.find("},\"locks\""), R"(,"servers":)" + servers);
  Cluster cluster = recorded();
  cluster.status_page = read_status_page(text).value();
  return cluster;
}
constexpr char kOneIsUnavailable[] =
    R"([{"endpoint":"a:6379","up":true,"latency_us":90,"error":""},
{"endpoint":"b:6379","up":false,"latency_us":0,"error":"connection refused"},
{"endpoint":"c:6379","up":true,"latency_us":80,"error":""}])";

TEST(Listing, NamesUnavailableServersOfAQuorum) {
  const Cluster cluster = with_servers(kOneIsUnavailable);
  const CronJob& nightly = cronjob_of(cluster, "nightly");
  for (const Output& page : {list_output(cluster, Namespaces::all, Width::normal),
                             describe_output(cluster, nightly), why_output(cluster, nightly)}) {
    EXPECT_EQ(page.sections.back().lines.back(),
              "unavailable servers of the quorum: 1 of 3: b:6379 (connection refused)");
    EXPECT_EQ(page.json["unavailableServers"],
              kube::Json::array({{{"endpoint", "b:6379"}, {"error", "connection refused"}}}));
  }
}

TEST(Listing, IsSilentAboutServersThatAreAvailable) {
  for (const Cluster& cluster : {with_servers(R"([{"endpoint":"a:6379","up":true,"error":""}])"),
                                 with_servers("[]"), live(), recorded()}) {
    const Output page = list_output(cluster, Namespaces::all, Width::normal);
    for (const Section& section : page.sections)
      for (const std::string& line : section.lines)
        EXPECT_THAT(line, ::testing::Not(HasSubstr("quorum")));
    EXPECT_EQ(page.json["unavailableServers"], kube::Json::array());
  }
}

TEST(Listing, RowsFitTheirHeader) {
  for (const Namespaces namespaces : {Namespaces::one, Namespaces::all})
    for (const Width width : {Width::normal, Width::wide}) {
      const Output page = list_output(live(), namespaces, width);
      ASSERT_EQ(page.sections[0].table.size(), 5u);
      for (const Row& row : page.sections[0].table)
        EXPECT_EQ(row.size(), page.sections[0].table[0].size());
    }
}

TEST(Listing, ReportsSuspendedUncopiedAndInvalidInTheRow) {
  Cluster cluster = live();
  for (CronJob& cronjob : cluster.cronjobs)
    if (cronjob.name == "busy")
      cronjob.job_annotations.clear();
    else if (cronjob.name == "hourly")
      cronjob.schedule = "x";
  const Output page = list_output(cluster, Namespaces::all, Width::normal);
  EXPECT_EQ(entry(page, "busy")["state"], "not gated");
  std::string text;
  for (const Row& row : page.sections[0].table)
    for (const std::string& cell : row) text += cell + '|';
  EXPECT_THAT(text, HasSubstr("suspended"));
  EXPECT_THAT(text, HasSubstr("bad schedule"));
}

TEST(Listing, WithoutGatedCronJobsExplainsTheAnnotation) {
  Cluster cluster = recorded();
  for (CronJob& cronjob : cluster.cronjobs) cronjob.annotations.clear();
  const Output page = list_output(cluster, Namespaces::all, Width::normal);
  EXPECT_THAT(page.sections.front().lines.front(), HasSubstr("cronlatch.dev/lock=true"));
}

TEST(Describe, ContainsTheNextRunsInLocalTime) {
  const Cluster cluster = live();
  const Output page = describe_output(cluster, cronjob_of(cluster, "nightly"));
  std::string text;
  for (const Section& section : page.sections) {
    text += section.title + '\n';
    for (const Row& row : section.table)
      for (const std::string& cell : row) text += cell + '|';
    for (const std::string& line : section.lines) text += line + '\n';
  }
  EXPECT_THAT(text, HasSubstr("2026-11-23 02:00 Europe/Berlin"));
  EXPECT_THAT(text, HasSubstr("skipped (held)"));
  EXPECT_THAT(text, HasSubstr("advice"));
  EXPECT_THAT(text, HasSubstr("set cronlatch.dev/ttl: \"4m\""));
}

// The plugin reads what the operator writes.
TEST(StatusPage, ContainsTheDurationOfRuns) {
  LockView view;
  view.lock = "shop/nightly";
  Counters& counters = view.jobs["shop/nightly"];
  counters.values = {{"acquired", 100}, {"hold_3", 100}, {"hold_ms", 2'000'000}};
  const auto page = read_status_page(R"({"v":1,"locks":[)" + lock_json(view) + "]}");
  ASSERT_TRUE(page);
  Cluster cluster = recorded();
  cluster.status_page = *page;
  for (const LockUse& use : lock_uses(cluster)) {
    if (use.job != "shop/nightly") continue;
    EXPECT_EQ(use.slow_run, p95_hold(counters));
    EXPECT_EQ(use.slow_run_label, "19 of 20 runs end within");
    return;
  }
  ADD_FAILURE() << "shop/nightly does not exist";
}

TEST(StatusPage, OtherTextIsAnError) {
  EXPECT_FALSE(read_status_page("<html>"));
  EXPECT_FALSE(read_status_page(R"({"v":2})"));
  EXPECT_FALSE(read_status_page("[]"));
  EXPECT_TRUE(read_status_page(R"({"v":1,"locks":[1,{"jobs":{}}]})"));
}

Cluster of_two_clusters() {
  std::string page = kPage;
  page.replace(page.find(R"("locks":)"), 0,
               R"("cluster":"eu-1","other_clusters":["us-2","ap-3"],)");
  page.replace(page.find("shop/p-1"), 8, "shop/p-1@eu-1");
  page.replace(page.find(R"("locks":[)") + 9, 0,
               R"({"lock":"shop/database","state":"held","holder":"shop/r-1@us-2"},)");
  Cluster cluster = recorded();
  cluster.status_page = read_status_page(page).value();
  return cluster;
}

TEST(Listing, NamesTheClusterOfAHolderOnlyIfItIsAnother) {
  const Output output = list_output(of_two_clusters(), Namespaces::all, Width::normal);

  EXPECT_EQ(entry(output, "nightly")["holder"], "shop/p-1");
  EXPECT_EQ(entry(output, "report")["holder"], "shop/r-1@us-2");
}

TEST(Listing, ReportsOtherClustersWithTheSameStore) {
  const Output output = list_output(of_two_clusters(), Namespaces::all, Width::normal);

  EXPECT_EQ(output.json["otherClusters"], kube::Json::array({"us-2", "ap-3"}));
  EXPECT_THAT(output.sections.back().lines.front(),
              HasSubstr("other clusters with the same store and key prefix: us-2, ap-3"));
  EXPECT_EQ(list_output(live(), Namespaces::all, Width::normal).json["otherClusters"],
            kube::Json::array());
}

}  // namespace
}  // namespace cronlatch::plugin
