// SPDX-License-Identifier: Apache-2.0
#include "admission/job_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> warnings_for(const std::string& store,
                                      const std::string& dns_policy = "") {
  JobView job;
  job.dns_policy = dns_policy;
  job.containers.resize(1);
  job.host_network = dns_policy.empty();
  Settings settings;
  settings.store = store;
  std::vector<std::string> texts;
  for (const Finding& warning : job_warnings(job, 0, {}, settings)) texts.push_back(warning.text());
  return texts;
}

TEST(JobWarnings, NameAStoreThatOnlyTheDnsOfTheClusterResolves) {
  for (const char* url : {"redis://cache", "rediss://user@cache:6380/1", "redis://cache.ns",
                          "redis://cache.ns.svc", "redis://cache.ns.svc.cluster.local."})
    EXPECT_THAT(warnings_for(url), ElementsAre(AllOf(HasSubstr("cannot resolve the store's host"),
                                                     HasSubstr("(cache"))))
        << url;
}

TEST(JobWarnings, NameTheFirstOfSeveralHostsThatCannotBeResolved) {
  for (const char* url : {"postgres://u@db.example.com,cache.ns.svc:6432/d",
                          "rediss+sentinel://s1.example.com,cache.ns.svc/mymaster",
                          "rediss+cluster://n1.example.com,cache.ns.svc"})
    EXPECT_THAT(warnings_for(url), ElementsAre(HasSubstr("(cache.ns.svc)"))) << url;
}

TEST(JobWarnings, AcceptAnyOtherStoreOnTheNetworkOfTheHost) {
  for (const char* url : {"redis://redis.example.com", "redis://10.0.0.1:6379", "redis://[fd00::1]",
                          "redis://[::1]:6379", "postgres://u@db.example.com,10.0.0.1/d",
                          "file:///var/lock", "", "no url"})
    EXPECT_THAT(warnings_for(url), IsEmpty()) << url;
}

TEST(JobWarnings, NameAPolicyWithoutTheDnsOfTheCluster) {
  EXPECT_THAT(warnings_for("redis://cache", "Default"),
              ElementsAre(HasSubstr("set dnsPolicy: ClusterFirst")));
  EXPECT_THAT(warnings_for("redis://cache", "None"),
              ElementsAre(HasSubstr("list the cluster's DNS in dnsConfig")));
  EXPECT_THAT(warnings_for("redis://redis.example.com", "Default"), IsEmpty());
  EXPECT_THAT(warnings_for("redis://cache", "ClusterFirst"), IsEmpty());
}

}  // namespace
}  // namespace cronlatch::op
