// SPDX-License-Identifier: Apache-2.0
// The output of uninstall-check. Pure.
#include "base/text.h"
#include "plugin/uninstall_check.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;

// The effect on its Jobs while no operator is installed.
std::string without_operator(const UninstallState& state, const LockedCronJob& cronjob) {
  if (!cronjob.reaches_jobs()) return "run without a lock: the annotation is not copied to them";
  if (state.job_policy.empty()) return "run without a lock: no policy refuses them";
  return "refused by policy " + state.job_policy +
         (state.job_policy_everywhere ? "" : ", in the namespaces that it selects");
}

void add_operators(const UninstallState& state, Output& output) {
  Section section;
  output.json["operators"] = Json::array();
  for (const InstalledOperator& one : state.operators) {
    output.json["operators"].push_back({{"namespace", one.namespace_name},
                                        {"deployment", one.deployment},
                                        {"release", one.release}});
    section.lines.push_back("operator: Deployment " + one.deployment + " in namespace " +
                            one.namespace_name + " (release " + one.release + ")");
  }
  if (state.operators.empty()) section.lines.emplace_back("operator: not installed");
  output.sections.push_back(std::move(section));
}

void add_cronjobs(const UninstallState& state, Output& output) {
  output.json["cronjobs"] = Json::array();
  if (state.cronjobs.empty()) {
    output.sections.push_back({.lines = {"no CronJob requests a lock"}});
    return;
  }
  Section table{.title = "CronJobs that request a lock: " + std::to_string(state.cronjobs.size())};
  Section commands{.title =
                       "to run the Jobs of one without a lock, before or after the uninstall:"};
  table.table.push_back({"NAMESPACE", "CRONJOB", "LOCK", "JOBS WITHOUT THE OPERATOR"});
  bool selected = false;
  for (const LockedCronJob& cronjob : state.cronjobs) {
    const std::string outcome = without_operator(state, cronjob);
    const std::string command = remove_lock_command(cronjob);
    table.table.push_back({cronjob.namespace_name, cronjob.name, cronjob.lock, outcome});
    commands.lines.push_back("  " + command);
    selected = selected || cronjob.selected();
    output.json["cronjobs"].push_back({{"namespace", cronjob.namespace_name},
                                       {"cronjob", cronjob.name},
                                       {"lock", cronjob.lock},
                                       {"without_operator", outcome},
                                       {"remove_lock", command}});
  }
  output.sections.push_back(std::move(table));
  output.sections.push_back(std::move(commands));
  if (!selected) return;
  output.sections.push_back(
      {.lines = {
           state.operators.empty()
               ? "the policies refuse the removal of annotations that the chart's value `select` "
                 "requires: delete the policies (kubectl delete "
                 "validatingadmissionpolicybinding,validatingadmissionpolicy -l " +
                     std::string(kPartOfCronlatch) + "), then remove the annotations"
               : "the operator adds the annotations of the chart's value `select` again: remove "
                 "the CronJob from that value first"}});
}

void add_left_behind(const UninstallState& state, Output& output) {
  const std::vector<ClusterObject> left = state.left_behind();
  output.json["left_behind"] = Json::array();
  if (left.empty()) {
    if (state.operators.empty())
      output.sections.push_back({.lines = {"no cluster-scoped object of cronlatch exists"}});
    return;
  }
  Section section{.title = "objects that an uninstall left:"};
  for (const ClusterObject& object : left) {
    output.json["left_behind"].push_back(
        {{"kind", object.kind}, {"name", object.name}, {"release", object.release}});
    section.lines.push_back("  " + object.kind + '/' + printable(object.name) + " (release " +
                            object.release + ")");
  }
  section.lines.emplace_back(
      state.can_remove_left_behind()
          ? "to delete them: kubectl cronlatch uninstall-check --remove"
          : "not deleted while a CronJob requests a lock; an install with the same release name "
            "and namespace adopts them");
  output.sections.push_back(std::move(section));
}

void add_next_step(const UninstallState& state, Output& output) {
  if (state.operators.empty()) return;
  const InstalledOperator& one = state.operators.front();
  output.sections.push_back(
      {.lines = {"to uninstall: helm uninstall " + one.release + " -n " + one.namespace_name +
                 (state.cronjobs.empty() ? ", then kubectl cronlatch uninstall-check --remove"
                                         : "; the policies stay until --remove deletes them")}});
}

}  // namespace

Output uninstall_output(const UninstallState& state) {
  Output output;
  output.json = Json::object();
  output.exit_code = state.cronjobs.empty() ? 0 : 1;
  add_operators(state, output);
  add_cronjobs(state, output);
  add_left_behind(state, output);
  add_next_step(state, output);
  return output;
}

}  // namespace cronlatch::plugin
