// SPDX-License-Identifier: Apache-2.0
#include "plugin/uninstall_check.h"

#include <algorithm>

#include "base/text.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;

constexpr std::size_t kMaxBytes = 256U << 20;
constexpr char kPartOfCronlatch[] = "app.kubernetes.io/part-of=cronlatch";
constexpr char kOperators[] =
    "app.kubernetes.io/part-of=cronlatch,app.kubernetes.io/component=operator";
constexpr char kKinds[] =
    "mutatingwebhookconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings";

Result<Json> list_of(const KubectlResult& answer, const std::string& what) {
  if (!answer.ok())
    return Error{Code::unreachable, "kubectl could not list " + what + " of the whole cluster",
                 "its error message is above; the check needs the right to list them"};
  auto list = kube::parse_json(answer.out, {.bytes = kMaxBytes});
  if (!list)
    return Error{Code::config,
                 "kubectl's list of " + what + " is invalid: " + list.error().message};
  return list;
}

Result<UninstallState> read_state(const Context& context) {
  const auto answers =
      context.kubectl.run({{{"get", "cronjobs", "-A", "-o", "json"}},
                           {{"get", "deployments", "-A", "-l", kOperators, "-o", "json"}},
                           {{"get", kKinds, "-l", kPartOfCronlatch, "-o", "json"}}});
  if (!answers) return answers.error();
  const Result<Json> cronjobs = list_of((*answers)[0], "CronJobs");
  if (!cronjobs) return cronjobs.error();
  const Result<Json> deployments = list_of((*answers)[1], "Deployments");
  if (!deployments) return deployments.error();
  const Result<Json> objects =
      list_of((*answers)[2], "webhook configurations, admission policies and their bindings");
  if (!objects) return objects.error();
  return read_uninstall_state(*cronjobs, *deployments, *objects);
}

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
               ? "the policies refuse to remove annotations that the chart's value `select` "
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

// Bindings first: for a binding without its policy the API server logs an error.
std::vector<std::string> deletion(const std::vector<ClusterObject>& objects) {
  std::vector<std::string> args = {"delete", "--ignore-not-found"};
  for (const bool bindings : {true, false})
    for (const ClusterObject& object : objects)
      if (object.kind.ends_with("binding") == bindings)
        args.push_back(object.kind + '/' + object.name);
  return args;
}

Result<Output> refuse_removal(const UninstallState& state, Output output) {
  output.exit_code = 1;
  output.json["removed"] = false;
  const std::string reason = state.can_remove_left_behind()
                                 ? "every object belongs to an installed operator"
                                 : "CronJobs request a lock (" +
                                       std::to_string(state.cronjobs.size()) +
                                       "); their Jobs would run without one";
  output.sections.push_back({.lines = {"nothing was deleted: " + reason}});
  return output;
}

Result<Output> remove_left_behind(const Context& context, const UninstallState& state) {
  const std::vector<ClusterObject> left = state.left_behind();
  if (!left.empty()) {
    const auto deleted = run_one(context.kubectl, {deletion(left)});
    if (!deleted) return deleted.error();
    if (!deleted->ok())
      return Error{
          Code::unreachable, "kubectl could not delete the objects that an uninstall left",
          "its error message is above; run uninstall-check again to list the remaining objects"};
    for (const ClusterObject& object : left)
      context.report_progress("deleted " + object.kind + '/' + printable(object.name));
  }
  const Result<UninstallState> now = read_state(context);
  if (!now) return now.error();
  Output output = uninstall_output(*now);
  output.json["removed"] = now->left_behind().empty();
  return output;
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

Result<Output> uninstall_check(const Arguments& arguments, const Context& context) {
  const Result<UninstallState> state = read_state(context);
  if (!state) return state.error();
  if (!arguments.remove) return uninstall_output(*state);
  const bool only_installed = !state->operators.empty() && state->left_behind().empty();
  if (!state->can_remove_left_behind() || only_installed)
    return refuse_removal(*state, uninstall_output(*state));
  return remove_left_behind(context, *state);
}

}  // namespace cronlatch::plugin
