// SPDX-License-Identifier: Apache-2.0
// One leader, or two consecutive ones, with an API server in memory.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "gated_pod.h"
#include "operator/reconcile/reconciler.h"
#include "support/fake_api.h"
#include "support/hand_clock.h"

namespace cronlatch::op::testing {

using cronlatch::testing::ended_pod;
using cronlatch::testing::FakeApi;
using cronlatch::testing::HandClock;
using cronlatch::testing::owned_by;

inline const std::string kEvents = "/apis/events.k8s.io/v1/namespaces/demo/events";
inline const std::string kCronJob = "/apis/batch/v1/namespaces/demo/cronjobs/nightly";

// With the resourceVersion 1.
inline kube::Json pod(const std::string& uid, const std::string& outcome, const std::string& reason,
                      const std::string& finished = "2026-11-21T02:00:01Z") {
  const std::string message = R"({"v":1,"outcome":")" + outcome + R"(","reason":")" + reason +
                              R"(","lock":"demo/nightly","fence":"7","holder":"h"})";
  kube::Json pod = ended_pod("nightly-" + uid, uid, message, 0, finished);
  pod["metadata"]["resourceVersion"] = "1";
  return pod;
}
inline kube::Json with_version(kube::Json object, const std::string& version) {
  object["metadata"]["resourceVersion"] = version;
  return object;
}

inline ObjectChange updated(ObjectKind kind, kube::Json object) {
  return read_change(kind, std::move(object)).value();
}
inline ObjectChange listed(ObjectKind kind) {
  return {.kind = kind, .type = ObjectChange::Type::all_listed};
}
// All changes of pods up to `version` were processed.
inline ObjectChange position(const std::string& version) {
  return {.kind = ObjectKind::pod, .type = ObjectChange::Type::position, .version = version};
}

struct World {
  Settings settings;
  FakeApi api;
  HandClock clock;
  Log log{LogFormat::text, Level::error, clock, [](std::string_view) {}};

  World() {
    const kube::Json owner = owned_by("CronJob", "nightly", "cronjob-uid");
    api.put("/apis/batch/v1/namespaces/demo/jobs/nightly-2", {{"metadata",
                                                               {{"namespace", "demo"},
                                                                {"name", "nightly-2"},
                                                                {"uid", "job-uid"},
                                                                {"ownerReferences", owner}}}});
  }
  void cronjob(const std::string& lock) {
    api.put(kCronJob,
            {{"metadata",
              {{"namespace", "demo"},
               {"name", "nightly"},
               {"uid", "cronjob-uid"},
               {"annotations", {{"cronlatch.dev/lock", lock}}}}},
             {"spec",
              {{"jobTemplate",
                {{"spec",
                  {{"template",
                    {{"spec",
                      {{"restartPolicy", "Never"},
                       {"containers",
                        {{{"name", "main"}, {"image", "x"}, {"command", {"true"}}}}}}}}}}}}}}}});
  }
  std::vector<std::string> events() const {
    std::vector<std::string> out;
    for (const kube::Json& event : api.below(kEvents))
      out.push_back(kube::string_at(event, {"regarding", "kind"}) + " " +
                    kube::string_at(event, {"reason"}));
    return out;
  }
};

struct Leader {
  World& world;
  Metrics metrics{"test"};
  Exporter exporter;
  kube::Election election;
  Workers workers;
  EventRecorder events;
  Reconciler reconciler;

  // `threads` 0: everything happens on the thread of the test.
  Leader(World& w, const std::string& name, std::size_t threads = 0)
      : world(w),
        exporter([] { return true; }, metrics, w.clock),
        election(w.api, {w.clock, [] { return 0.5; }, [](Millis, const std::stop_token&) {}},
                 {"cronlatch", "cronlatch-operator", "cronlatch.dev/counted-pods"}, name),
        workers(threads),
        events({w.settings, metrics, w.clock, w.log, name}),
        reconciler(
            {w.settings, w.api, metrics, exporter, w.clock, w.log, election, workers, events}) {
    election.step();
    EXPECT_TRUE(election.leading());
    reconciler.begin_term();
  }
  void settle() {
    for (int i = 0; i < 3; ++i) {
      reconciler.tick();
      election.step();
      world.clock.pass(Seconds(2));
    }
    reconciler.tick();
  }
  std::string counted(const char* reason) {
    std::string text;
    exporter.append_text(text);
    const auto at = text.find(
        "cronlatch_run_errors_total{namespace=\"demo\",cronjob=\"nightly\",lock=\"\",reason=\"" +
        std::string(reason) + "\"} ");
    if (at == std::string::npos) return "";
    const auto value = text.find("} ", at) + 2;
    return text.substr(value, text.find('\n', value) - value);
  }
};

}  // namespace cronlatch::op::testing
