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

TEST(JobWarnings, AcceptAnyOtherStoreOnTheNetworkOfTheHost) {
  for (const char* url : {"redis://redis.example.com", "redis://10.0.0.1:6379", "redis://[fd00::1]",
                          "redis://[::1]:6379", "file:///var/lock", "", "no url"})
    EXPECT_THAT(warnings_for(url), IsEmpty()) << url;
}

}  // namespace
}  // namespace cronlatch::op
