// SPDX-License-Identifier: Apache-2.0
#include "admission/job_view.h"

#include <gtest/gtest.h>

#include "admission/entrypoint.h"
#include "admission/user_command.h"
#include "admission/wrapper_command.h"

namespace cronlatch::op {
namespace {

using kube::Json;
using Words = std::vector<std::string>;

TEST(OwningCronJob, IsTheOwnerOfThatKind) {
  const auto owned_by = [](const char* version, const char* kind) {
    return owning_cronjob(
        {{"metadata",
          {{"ownerReferences",
            Json::array({{{"apiVersion", version}, {"kind", kind}, {"name", "n"}}})}}}});
  };
  EXPECT_EQ(owned_by("batch/v1", "CronJob"), "n");
  EXPECT_EQ(owned_by("batch/v1", "Job"), "");
  EXPECT_EQ(owned_by("other.io/v1", "CronJob"), "");
  EXPECT_EQ(owning_cronjob(Json::object()), "");
}

TEST(KubeletEscaped, SurvivesTheKubelet) {
  EXPECT_EQ(kubelet_escaped("a"), "a");
  EXPECT_EQ(kubelet_escaped("$(HOME) $$ $x $"), "$$(HOME) $$$$ $$x $$");
}

TEST(Unwrapped, TakesOursOutWhereverItStands) {
  const Words ours = {"/cronlatch-bin/cronlatch", "run", "--isolated", "--lock=a", "--"};
  Words command = ours;
  command.insert(command.end(), {"sh", "-c", "--", "x"});
  EXPECT_EQ(unwrapped(command), (Words{"sh", "-c", "--", "x"}));
  command.insert(command.begin(), "env");
  EXPECT_EQ(unwrapped(command), (Words{"env", "sh", "-c", "--", "x"}));
  Words twice = ours;
  twice.insert(twice.end(), ours.begin(), ours.end());
  twice.push_back("x");
  EXPECT_EQ(unwrapped(twice), (Words{"x"}));
}

TEST(Unwrapped, LeavesAUsersOwnRunAlone) {
  const Words own = {"/cronlatch-bin/cronlatch", "run", "--lock=a", "--", "x"};
  EXPECT_EQ(unwrapped(own), own);
  const Words open_ended = {"/cronlatch-bin/cronlatch", "run", "--isolated", "x"};
  EXPECT_EQ(unwrapped(open_ended), open_ended);
  EXPECT_EQ(unwrapped({}), Words{});
}

TEST(ImageIndex, KnowsAnImageWithAndWithoutItsTag) {
  Settings settings;
  settings.image_index = {{"reg:5000/team/pg", {"a"}}, {"pg:16", {"b"}}};
  const ImageIndex index(settings);
  const kube::Json pod = kube::Json::object();
  const auto found = [&](const char* image) {
    const EntrypointResult answer = index.find({image, "demo", pod});
    const auto* const known = std::get_if<Entrypoint>(&answer);
    return known == nullptr ? Words{} : known->entrypoint;
  };
  EXPECT_EQ(found("reg:5000/team/pg:1@sha256:0"), Words{"a"});
  EXPECT_EQ(found("reg:5000/team/pg"), Words{"a"});
  EXPECT_EQ(found("pg:16@sha256:0"), Words{"b"});
  EXPECT_EQ(found("pg:17"), Words{});
  EXPECT_EQ(found("reg:5000/team"), Words{});
  EXPECT_EQ(found(""), Words{});
}

}  // namespace
}  // namespace cronlatch::op
