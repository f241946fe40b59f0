// SPDX-License-Identifier: Apache-2.0
// A Job as the decisions see it: one that is being created, or the one that a CronJob's template
// would become. Reads; decides nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/json.h"

namespace cronlatch::op {

struct Workload {
  kube::Json* job;   // shaped like a Job: metadata, spec; the rewrite is made where it stands
  std::string path;  // before every field path in a message: "" or "spec.jobTemplate."
  std::string namespace_name;
  std::string cronjob;  // the owner's name; empty: a Job of its own

  const kube::Json& pod_spec() const;  // an empty object where there is none
  // "spec.template.spec.containers[1]": where people find a container.
  std::string container_path(std::size_t index) const;
};

// The CronJob that owns the Job, scheduled or by hand; "" when none does.
std::string owning_cronjob(const kube::Json& job);

// The item whose `name` is this, or nothing.
std::optional<std::size_t> index_of_name(const std::vector<kube::Json>& items,
                                         std::string_view name);

}  // namespace cronlatch::op
