// SPDX-License-Identifier: Apache-2.0
#include "admission/job_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> warnings_for(const std::string& store) {
  JobView job;
  job.containers.resize(1);
  job.host_network = true;
  Settings settings;
  settings.store = store;
  return job_warnings(job, 0, settings);
}

TEST(JobWarnings, NameAStoreThatOnlyTheDnsOfTheClusterResolves) {
  for (const char* url : {"redis://cache", "rediss://user@cache:6380/1", "redis://cache.ns",
                          "redis://cache.ns.svc", "redis://cache.ns.svc.cluster.local."})
    EXPECT_THAT(warnings_for(url), ElementsAre(HasSubstr("cannot resolve the store's host cache")))
        << url;
}

TEST(JobWarnings, NameTheFirstOfSeveralHostsThatCannotBeResolved) {
  for (const char* url : {"postgres://u@db.example.com,cache.ns.svc:6432/d",
                          "rediss+sentinel://s1.example.com,cache.ns.svc/mymaster",
                          "rediss+cluster://n1.example.com,cache.ns.svc"})
    EXPECT_THAT(warnings_for(url), ElementsAre(HasSubstr("the store's host cache.ns.svc;"))) << url;
}

TEST(JobWarnings, AcceptAnyOtherStoreOnTheNetworkOfTheHost) {
  for (const char* url : {"redis://redis.example.com", "redis://10.0.0.1:6379", "redis://[fd00::1]",
                          "redis://[::1]:6379", "postgres://u@db.example.com,10.0.0.1/d",
                          "file:///var/lock", "", "no url"})
    EXPECT_THAT(warnings_for(url), IsEmpty()) << url;
}

}  // namespace
}  // namespace cronlatch::op
