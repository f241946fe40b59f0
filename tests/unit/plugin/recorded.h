// SPDX-License-Identifier: Apache-2.0
// A recorded cluster: objects/*.json are the output of `kubectl get -o json` from a real API server
// and its controllers. It had no node, so the pods' states were added.
#pragma once

#include <gtest/gtest.h>

#include "base/rfc3339.h"
#include "plugin/cluster.h"
#include "support/program.h"
#include "support/source_dir.h"

namespace cronlatch::plugin {

// A few minutes after the recording.
inline WallTime recorded_at() { return parse_rfc3339("2026-11-22T06:27:40Z").value(); }

inline std::string recorded_text(const std::string& name) {
  return testing::read_file(cronlatch::testing::source_dir() + "/tests/unit/plugin/objects/" +
                            name + ".json");
}

template <class T>
void add_recorded(const std::string& name, T (*read)(const kube::Json&), std::vector<T>& out) {
  const auto list = kube::parse_json(recorded_text(name));
  ASSERT_TRUE(list) << name << ": " << list.error().message;
  for (const kube::Json& item : items_of(*list)) out.push_back(read(item));
}

inline Zone recorded_zone(const std::string& name) {
  Zone zone;
  if (name == "Europe/Berlin") zone.rule = parse_rule("CET-1CEST,M3.5.0,M10.5.0/3");
  return zone;
}

// Namespaces shop and away, without a status page.
inline Cluster recorded() {
  Cluster cluster;
  for (const std::string ns : {"shop", "away"}) {
    add_recorded(ns + "-cronjobs", read_cronjob, cluster.cronjobs);
    add_recorded(ns + "-events", read_event, cluster.events);
  }
  add_recorded("shop-jobs", read_job, cluster.jobs);
  add_recorded("shop-pods", read_pod, cluster.pods);
  cluster.page_error = "not found";
  cluster.now = recorded_at();
  cluster.zones = [](const std::string& name) -> Result<Zone> { return recorded_zone(name); };
  return cluster;
}

inline const CronJob& cronjob_of(const Cluster& cluster, const std::string& name) {
  for (const CronJob& cronjob : cluster.cronjobs)
    if (cronjob.name == name) return cronjob;
  ADD_FAILURE() << "no CronJob " << name;
  return cluster.cronjobs.front();
}

}  // namespace cronlatch::plugin
