// SPDX-License-Identifier: Apache-2.0
// The lock, the holder and the Job of a release.
#include "plugin/release_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recorded.h"

namespace cronlatch::plugin {
namespace {

TEST(PluginRelease, ReportsALockThatItsMinHoldKeepsClosed) {
  Cluster cluster = recorded();
  StatusPage page;
  LockStatus& lock = page.locks["shop/nightly"];
  lock.state = "cooling";
  lock.holder = "shop/nightly-29-abc";
  lock.expires = parse_rfc3339("2026-11-22T06:30:00Z").value();
  cluster.status_page = page;

  EXPECT_TRUE(is_cooling(cluster, "shop/nightly"));
  EXPECT_EQ(holder_text(cluster, "shop/nightly"),
            "released by shop/nightly-29-abc, closed by its min-hold until 2026-11-22T06:30:00Z");
  EXPECT_FALSE(is_cooling(cluster, "shop/other"));
}

TEST(ReleaseJob, IsRestrictedIsDeletedAndHasTheStoreAccessOfItsNamespace) {
  const auto jobs = kube::parse_json(recorded_text("shop-jobs")).value();
  std::optional<PodStoreAccess> access;
  for (const kube::Json& job : items_of(jobs))
    if (auto found = store_access(job["spec"]["template"]["spec"])) access = found;
  ASSERT_TRUE(access);

  const kube::Json job = release_job({"shop/nightly", "shop"}, *access, ReleaseWait::until_free);

  const kube::Json& pod = job["spec"]["template"]["spec"];
  EXPECT_EQ(pod["containers"][0]["command"],
            kube::Json({"/cronlatch", "release", "shop/nightly", "--force", "--isolated",
                        "--store=rediss://redis.shop.svc.cluster.local.:6379",
                        "--credentials-dir=/var/run/secrets/cronlatch"}));
  EXPECT_EQ(pod["containers"][0]["image"], "registry.example/cronlatch:1");
  EXPECT_EQ(pod["volumes"][0]["secret"]["secretName"], "cronlatch-store");
  EXPECT_EQ(pod["securityContext"]["runAsNonRoot"], true);
  EXPECT_EQ(pod["automountServiceAccountToken"], false);
  EXPECT_GT(job["spec"]["ttlSecondsAfterFinished"], 0);
  EXPECT_GT(job["spec"]["activeDeadlineSeconds"], 3'600);
}

// Without the user of the Sentinels, for example, the Job could not find the store.
TEST(ReleaseJob, HasEveryOptionOfTheStore) {
  const kube::Json pod = {
      {"containers",
       {{{"name", "main"},
         {"command",
          {"/cronlatch-bin/cronlatch", "run", "--isolated", "--lock=shop/nightly", "--ttl=5m",
           "--store=rediss+sentinel://s1,s2,s3/main", "--redis-username=runs",
           "--sentinel-username=watcher", "--max-ttl=1h", "--key-prefix=prod:", "--strict=true",
           "--min-replicas=1", "--log-level=debug", "--", "/bin/work"}}}}},
      {"initContainers", {{{"name", "cronlatch-install"}, {"image", "registry.example/c:1"}}}}};

  const auto access = store_access(pod);

  ASSERT_TRUE(access);
  EXPECT_THAT(access->flags, ::testing::UnorderedElementsAre(
                                 "--store=rediss+sentinel://s1,s2,s3/main", "--redis-username=runs",
                                 "--sentinel-username=watcher", "--max-ttl=1h",
                                 "--key-prefix=prod:", "--strict=true", "--min-replicas=1"));
}

// CA certificates may come from a ConfigMap: then the volume is projected.
TEST(ReleaseJob, MountsTheStoreVolumeOfTheGatedPodUnchanged) {
  auto jobs = kube::parse_json(recorded_text("shop-jobs")).value();
  const kube::Json projected = {
      {"name", "cronlatch-store"},
      {"projected",
       {{"sources",
         {{{"secret", {{"name", "cronlatch-store"}, {"optional", true}}}},
          {{"configMap",
            {{"name", "platform-cas"},
             {"items", {{{"key", "bundle.pem"}, {"path", "ca.crt"}}}}}}}}}}}};
  std::optional<PodStoreAccess> access;
  for (kube::Json& job : jobs["items"]) {
    kube::Json& pod = job["spec"]["template"]["spec"];
    if (!store_access(pod)) continue;
    for (kube::Json& volume : pod["volumes"])
      if (volume["name"] == "cronlatch-store") volume = projected;
    access = store_access(pod);
  }
  ASSERT_TRUE(access);

  const kube::Json job = release_job({"shop/nightly", "shop"}, *access, ReleaseWait::until_free);

  const kube::Json& pod = job["spec"]["template"]["spec"];
  EXPECT_EQ(pod["volumes"], kube::Json::array({projected}));
  EXPECT_EQ(pod["containers"][0]["volumeMounts"][0]["mountPath"], "/var/run/secrets/cronlatch");
}

TEST(ReleaseJob, HasTheImageOfTheVolumeWhereThePodMountsIt) {
  const auto jobs = kube::parse_json(recorded_text("shop-jobs")).value();
  std::optional<PodStoreAccess> access;
  for (const kube::Json& job : items_of(jobs)) {
    kube::Json pod = job["spec"]["template"]["spec"];
    if (!store_access(pod)) continue;
    pod.erase("initContainers");
    for (kube::Json& volume : pod["volumes"])
      if (volume["name"] == "cronlatch-bin")
        volume = {
            {"name", "cronlatch-bin"},
            {"image", {{"reference", "mirror.example/cronlatch:2"}, {"pullPolicy", "Always"}}}};
    access = store_access(pod);
  }
  ASSERT_TRUE(access);
  EXPECT_EQ(access->image, "mirror.example/cronlatch:2");
  EXPECT_EQ(access->pull_policy, "Always");
}

TEST(ReleaseTarget, IsACronJobOrALockWithASlash) {
  const Cluster cluster = recorded();
  EXPECT_EQ(release_target(cluster, "report", "shop")->lock, "shop/database");
  EXPECT_EQ(release_target(cluster, "bank/x", "shop")->namespace_name, "bank");
  EXPECT_EQ(release_target(cluster, "_cluster/x", "shop")->namespace_name, "shop");
  EXPECT_FALSE(release_target(cluster, "nobody", "shop"));
  EXPECT_FALSE(release_target(cluster, "bank/x;rm", "shop"));
}

}  // namespace
}  // namespace cronlatch::plugin
