// SPDX-License-Identifier: Apache-2.0
// The objects of cronlatch in a cluster, before and after an uninstall: CronJobs that request a
// lock, the operator, and cluster-scoped objects. Reads the JSON of `kubectl get -o json`. Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/json.h"

namespace cronlatch::plugin {

// A CronJob with the annotation cronlatch.dev/lock in at least one of its three places.
struct LockedCronJob {
  std::string namespace_name, name, lock;
  bool on_cronjob = false;       // metadata
  bool on_job_template = false;  // spec.jobTemplate.metadata: copied to its Jobs
  bool on_pods = false;          // spec.jobTemplate.spec.template.metadata: copied, too
  bool copied = false;           // the operator copied it to the Job template
  bool reaches_jobs() const { return on_job_template || on_pods; }
  // The operator copied it there and the CronJob has no source: the chart's value `select`.
  bool selected() const { return copied && !on_cronjob && !on_pods; }
  std::string id() const { return namespace_name + '/' + name; }
};

struct ClusterObject {
  std::string kind, name;  // kind as an argument of kubectl: "validatingadmissionpolicy"
  std::string release;     // label app.kubernetes.io/instance
};

struct InstalledOperator {
  std::string namespace_name, deployment, release;
};

struct UninstallState {
  std::vector<LockedCronJob> cronjobs;
  std::vector<InstalledOperator> operators;
  std::vector<ClusterObject> objects;  // webhook configurations, policies, bindings
  // A policy that checks Jobs and has a binding that denies; empty: none.
  std::string job_policy;
  bool job_policy_everywhere = true;    // it has no namespaceSelector
  bool job_policy_of_operator = false;  // such a policy belongs to an installed operator

  bool has_operator(const std::string& release) const;
  // Objects whose release has no operator in this cluster.
  std::vector<ClusterObject> left_behind() const;
  // Without those objects, every Job of these CronJobs is still gated or refused.
  bool can_remove_left_behind() const { return cronjobs.empty() || job_policy_of_operator; }
};

// Lists: of CronJobs, of the operator's Deployments, and of webhook configurations, policies and
// bindings of cronlatch.
UninstallState read_uninstall_state(const kube::Json& cronjobs, const kube::Json& deployments,
                                    const kube::Json& objects);

// The command that removes the CronJob's request for a lock, with and without the operator.
std::string remove_lock_command(const LockedCronJob& cronjob);

}  // namespace cronlatch::plugin
