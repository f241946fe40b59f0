// SPDX-License-Identifier: Apache-2.0
#include "plugin/uninstall_check.h"

#include "base/text.h"
#include "plugin/kubectl_json.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;

constexpr char kOperators[] =
    "app.kubernetes.io/part-of=cronlatch,app.kubernetes.io/component=operator";
constexpr char kKinds[] =
    "mutatingwebhookconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings";

Result<Json> list_of(const KubectlResult& answer, const std::string& what) {
  if (!answer.ok())
    return Error{Code::unreachable, "kubectl could not list " + what + " of the whole cluster",
                 "its error message is above; the check needs the right to list them"};
  return parse_list(answer, what);
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
