// SPDX-License-Identifier: Apache-2.0
#include "admission/wrapper_source.h"

#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

Settings with(InjectionMode mode, bool has_proven_image_volumes) {
  Settings settings;
  settings.injection = mode;
  settings.has_proven_image_volumes = has_proven_image_volumes;
  return settings;
}

TEST(WrapperSource, IsTheImageWhereTheSettingRequiresIt) {
  JobView job;
  job.runtime_class = "gvisor";
  for (const bool proven : {false, true}) {
    EXPECT_TRUE(mounts_image(job, with(InjectionMode::image_volume, proven)));
    EXPECT_FALSE(mounts_image({}, with(InjectionMode::init_container, proven)));
  }
}

TEST(WrapperSource, IsTheImageAutomaticallyOnlyWhereTheNodesAreProven) {
  EXPECT_TRUE(mounts_image({}, with(InjectionMode::automatic, true)));
  EXPECT_FALSE(mounts_image({}, with(InjectionMode::automatic, false)));
}

TEST(WrapperSource, IsTheInitContainerForARuntimeClassThatTheNodesDoNotReport) {
  JobView job;
  job.runtime_class = "gvisor";
  EXPECT_FALSE(mounts_image(job, with(InjectionMode::automatic, true)));
}

}  // namespace
}  // namespace cronlatch::op
