// SPDX-License-Identifier: Apache-2.0
#include "plugin/uninstall_check.h"

#include <algorithm>

#include "base/text.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;

constexpr std::size_t kLargest = 256U << 20;
constexpr char kOurs[] = "app.kubernetes.io/part-of=cronlatch";
constexpr char kOperators[] =
    "app.kubernetes.io/part-of=cronlatch,app.kubernetes.io/component=operator";
constexpr char kKinds[] =
    "mutatingwebhookconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings";

Result<Json> list_of(const KubectlAnswer& answer, const std::string& what) {
  if (!answer.ok())
    return Error{Code::unreachable, "kubectl could not list " + what + " of the whole cluster",
                 "its error message is above; the check needs the right to list them"};
  auto list = kube::parse_json(answer.out, {.bytes = kLargest});
  if (!list)
    return Error{Code::config,
                 "kubectl's list of " + what + " is invalid: " + list.error().message};
  return list;
}

Result<UninstallState> read_cluster(const Surroundings& around) {
  const auto answers =
      around.kubectl.ask({{{"get", "cronjobs", "-A", "-o", "json"}},
                          {{"get", "deployments", "-A", "-l", kOperators, "-o", "json"}},
                          {{"get", kKinds, "-l", kOurs, "-o", "json"}}});
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

// What happens to its Jobs while no operator is installed.
std::string without_operator(const UninstallState& state, const LockedCronJob& cronjob) {
  if (!cronjob.reaches_jobs()) return "run without a lock: the annotation is not copied to them";
  if (state.job_policy.empty()) return "run without a lock: no policy refuses them";
  return "refused by policy " + state.job_policy +
         (state.job_policy_everywhere ? "" : ", in the namespaces that it selects");
}

void add_operators(const UninstallState& state, Page& page) {
  Block block;
  page.json["operators"] = Json::array();
  for (const InstalledOperator& one : state.operators) {
    page.json["operators"].push_back({{"namespace", one.namespace_name},
                                      {"deployment", one.deployment},
                                      {"release", one.release}});
    block.lines.push_back("operator: Deployment " + one.deployment + " in namespace " +
                          one.namespace_name + " (release " + one.release + ")");
  }
  if (state.operators.empty()) block.lines.emplace_back("operator: not installed");
  page.blocks.push_back(std::move(block));
}

void add_cronjobs(const UninstallState& state, Page& page) {
  page.json["cronjobs"] = Json::array();
  if (state.cronjobs.empty()) {
    page.blocks.push_back({.lines = {"no CronJob asks for a lock"}});
    return;
  }
  Block table{.title = "CronJobs that ask for a lock: " + std::to_string(state.cronjobs.size())};
  Block commands{.title =
                     "to make the Jobs of one run without a lock, now or after the uninstall:"};
  table.table.push_back({"NAMESPACE", "CRONJOB", "LOCK", "JOBS WITHOUT THE OPERATOR"});
  bool selected = false;
  for (const LockedCronJob& cronjob : state.cronjobs) {
    const std::string outcome = without_operator(state, cronjob);
    const std::string command = remove_lock_command(cronjob);
    table.table.push_back({cronjob.namespace_name, cronjob.name, cronjob.lock, outcome});
    commands.lines.push_back("  " + command);
    selected = selected || cronjob.selected();
    page.json["cronjobs"].push_back({{"namespace", cronjob.namespace_name},
                                     {"cronjob", cronjob.name},
                                     {"lock", cronjob.lock},
                                     {"without_operator", outcome},
                                     {"remove_lock", command}});
  }
  page.blocks.push_back(std::move(table));
  page.blocks.push_back(std::move(commands));
  if (!selected) return;
  page.blocks.push_back(
      {.lines = {
           state.operators.empty()
               ? "a CronJob that the chart's value `select` chose keeps its annotations while "
                 "the policies are there: delete the policies (kubectl delete "
                 "validatingadmissionpolicybinding,validatingadmissionpolicy -l " +
                     std::string(kOurs) + "), then remove the annotations"
               : "a CronJob that the chart's value `select` chooses gets its annotations "
                 "again: remove its entry there first"}});
}

void add_left_behind(const UninstallState& state, Page& page) {
  const std::vector<ClusterObject> left = state.left_behind();
  page.json["left_behind"] = Json::array();
  if (left.empty()) {
    if (state.operators.empty())
      page.blocks.push_back({.lines = {"nothing of cronlatch is left without a namespace"}});
    return;
  }
  Block block{.title = "left behind by an uninstall:"};
  for (const ClusterObject& object : left) {
    page.json["left_behind"].push_back(
        {{"kind", object.kind}, {"name", object.name}, {"release", object.release}});
    block.lines.push_back("  " + object.kind + '/' + printable(object.name) + " (release " +
                          object.release + ")");
  }
  block.lines.emplace_back(
      state.may_lose_left_behind()
          ? "to delete them: kubectl cronlatch uninstall-check --remove"
          : "kept while a CronJob asks for a lock; an install with the same release name and "
            "namespace takes them over");
  page.blocks.push_back(std::move(block));
}

void add_next_step(const UninstallState& state, Page& page) {
  if (state.operators.empty()) return;
  const InstalledOperator& one = state.operators.front();
  page.blocks.push_back(
      {.lines = {"to uninstall: helm uninstall " + one.release + " -n " + one.namespace_name +
                 (state.cronjobs.empty() ? ", then kubectl cronlatch uninstall-check --remove"
                                         : "; the policies stay until --remove deletes them")}});
}

// Bindings first: a binding without its policy is an error in the API server's log.
std::vector<std::string> deletion(const std::vector<ClusterObject>& objects) {
  std::vector<std::string> words = {"delete", "--ignore-not-found"};
  for (const bool bindings : {true, false})
    for (const ClusterObject& object : objects)
      if (object.kind.ends_with("binding") == bindings)
        words.push_back(object.kind + '/' + object.name);
  return words;
}

Result<Page> refuse_removal(const UninstallState& state, Page page) {
  page.exit_code = 1;
  page.json["removed"] = false;
  const std::string why = state.may_lose_left_behind()
                              ? "the operator is installed, and what there is belongs to it"
                              : "CronJobs ask for a lock (" +
                                    std::to_string(state.cronjobs.size()) +
                                    "), and their Jobs would run without one";
  page.blocks.push_back({.lines = {"nothing was deleted: " + why}});
  return page;
}

Result<Page> remove_left_behind(const Surroundings& around, const UninstallState& state) {
  const std::vector<ClusterObject> left = state.left_behind();
  if (!left.empty()) {
    const auto deleted = ask_one(around.kubectl, {deletion(left)});
    if (!deleted) return deleted.error();
    if (!deleted->ok())
      return Error{Code::unreachable, "kubectl could not delete what the uninstall left behind",
                   "its error message is above; run the check again to see what is left"};
    for (const ClusterObject& object : left)
      around.say("deleted " + object.kind + '/' + printable(object.name));
  }
  const Result<UninstallState> now = read_cluster(around);
  if (!now) return now.error();
  Page page = uninstall_page(*now);
  page.json["removed"] = now->left_behind().empty();
  return page;
}

}  // namespace

Page uninstall_page(const UninstallState& state) {
  Page page;
  page.json = Json::object();
  page.exit_code = state.cronjobs.empty() ? 0 : 1;
  add_operators(state, page);
  add_cronjobs(state, page);
  add_left_behind(state, page);
  add_next_step(state, page);
  return page;
}

Result<Page> uninstall_check(const Arguments& arguments, const Surroundings& around) {
  const Result<UninstallState> state = read_cluster(around);
  if (!state) return state.error();
  if (!arguments.remove) return uninstall_page(*state);
  const bool only_installed = !state->operators.empty() && state->left_behind().empty();
  if (!state->may_lose_left_behind() || only_installed)
    return refuse_removal(*state, uninstall_page(*state));
  return remove_left_behind(around, *state);
}

}  // namespace cronlatch::plugin
