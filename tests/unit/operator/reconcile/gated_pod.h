// SPDX-License-Identifier: Apache-2.0
// A pod of a gated Job whose container has ended, and owner references.
#pragma once

#include <string>

#include "kube/json.h"

namespace cronlatch::testing {

// metadata.ownerReferences with one controller.
inline kube::Json owned_by(const std::string& kind, const std::string& name,
                           const std::string& uid) {
  const kube::Json owner = {{"apiVersion", "batch/v1"},
                            {"kind", kind},
                            {"name", name},
                            {"uid", uid},
                            {"controller", true}};
  return kube::Json::array({owner});
}

// demo/NAME of Job nightly-2 (job-uid). `message` is the termination message of its container
// `main`.
inline kube::Json ended_pod(const std::string& name, const std::string& uid,
                            const std::string& message, int exit_code = 0,
                            const std::string& finished = "2026-11-21T02:00:01Z") {
  const kube::Json container = {
      {"name", "main"},
      {"command",
       {"/cronlatch-bin/cronlatch", "run", "--isolated", "--lock=demo/nightly", "--", "true"}}};
  const kube::Json end = {{"exitCode", exit_code}, {"message", message}, {"finishedAt", finished}};
  const kube::Json status = {{"name", "main"}, {"state", {{"terminated", end}}}};
  return {{"metadata",
           {{"namespace", "demo"},
            {"name", name},
            {"uid", uid},
            {"ownerReferences", owned_by("Job", "nightly-2", "job-uid")}}},
          {"spec", {{"restartPolicy", "Never"}, {"containers", kube::Json::array({container})}}},
          {"status", {{"phase", "Succeeded"}, {"containerStatuses", kube::Json::array({status})}}}};
}

}  // namespace cronlatch::testing
