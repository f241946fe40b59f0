// SPDX-License-Identifier: Apache-2.0
#include "plugin/release.h"

#include "core/text.h"
#include "plugin/gather.h"
#include "plugin/release_plan.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;
using kube::string_at;
using Words = std::vector<std::string>;

constexpr Millis kLookEvery{1'000};
constexpr Millis kForThePod{120'000};      // until it runs: image, scheduling
constexpr Millis kForTheLease{3'900'000};  // the longest lease, and that

Result<KubectlAnswer> ask_one(const Surroundings& around, KubectlCall call) {
  auto answers = around.kubectl.ask({std::move(call)});
  if (!answers) return answers.error();
  return std::move(answers->front());
}

KubectlCall quietly(Words words, std::string input = {}) {
  return {std::move(words), KubectlCall::Complaints::kept, std::move(input)};
}

// A name without a slash needs kubectl's namespace, which only kubectl knows.
Result<std::string> current_namespace(const Arguments& arguments, const Surroundings& around) {
  if (!arguments.namespace_name.empty()) return arguments.namespace_name;
  const auto answer =
      ask_one(around, quietly({"config", "view", "--minify", "-o", "jsonpath={..namespace}"}));
  if (!answer) return answer.error();
  return answer->ok() && !answer->out.empty() ? answer->out : std::string("default");
}

// The newest gated pod or Job of the namespace: the lock's own where there is one.
Result<StoreAccess> find_access(const Arguments& arguments, const Surroundings& around,
                                const ReleaseTarget& target) {
  if (!arguments.image.empty() && !arguments.store.empty()) {
    StoreAccess access;
    access.image = arguments.image;
    access.secret = arguments.secret.empty() ? std::string(kStoreVolume) : arguments.secret;
    access.flags = {"--store=" + arguments.store,
                    "--credentials-dir=" + std::string(kStoreDirectory)};
    return access;
  }
  const auto answers =
      around.kubectl.ask({quietly({"get", "jobs", "-n", target.namespace_name, "-o", "json"}),
                          quietly({"get", "pods", "-n", target.namespace_name, "-l",
                                   std::string(kGatedLabel) + "=true", "-o", "json"})});
  if (!answers) return answers.error();
  std::optional<StoreAccess> found;
  std::string newest;
  const auto look = [&](const KubectlAnswer& answer,
                        std::initializer_list<std::string_view> spec_at) {
    const auto list = kube::parse_json(answer.out, {.bytes = 256U << 20});
    if (!answer.ok() || !list) return;
    for (const Json& item : items_of(*list)) {
      const Json* const spec = kube::find(item, spec_at);
      auto access = spec == nullptr ? std::nullopt : store_access(*spec);
      std::string made = string_at(item, {"metadata", "creationTimestamp"});
      if (!access || made < newest) continue;
      newest = std::move(made);
      found = std::move(access);
    }
  };
  look((*answers)[0], {"spec", "template", "spec"});
  look((*answers)[1], {"spec"});
  if (found) return *found;
  return Error{Code::usage,
               "namespace " + target.namespace_name +
                   " has no gated Job or pod to copy image, store and Secret from",
               "name them: kubectl cronlatch release " + target.lock + " -n " +
                   target.namespace_name +
                   " --image IMAGE --store URL [--secret NAME] --force; or, where the store can be "
                   "reached: cronlatch release " +
                   target.lock + " --force"};
}

std::string own_command(const Arguments& arguments, const ReleaseTarget& target) {
  return "kubectl cronlatch release " + arguments.name + " -n " + target.namespace_name +
         " --force";
}

Page message(const std::string& text, Json json) {
  Page page;
  page.blocks.push_back({.lines = {text}});
  page.json = std::move(json);
  return page;
}

Result<Page> show_dry_run(const Surroundings& around, const ReleaseTarget& target, const Json& job,
                          const std::string& holder) {
  const std::string text = kube::to_text(job);
  const auto allowed = ask_one(
      around, quietly({"create", "--dry-run=server", "-f", "-", "-o", "name"}, text + '\n'));
  if (!allowed) return allowed.error();
  const std::string verdict =
      allowed->ok() ? "the API server would accept it"
                    : "the API server refuses it: " + printable(allowed->complaints, 500);
  around.say("lock " + target.lock + ": " + holder + "; nothing was done; " + verdict);
  Page page;
  page.blocks.push_back({.lines = {job.dump(2, ' ', false, Json::error_handler_t::replace)}});
  page.json = job;
  page.exit_code = allowed->ok() ? 0 : 1;
  return page;
}

enum class Ended { no, well, badly };

Ended state_of(const Json& job) {
  const Json* const conditions = kube::find(job, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return Ended::no;
  for (const Json& condition : *conditions) {
    if (string_at(condition, {"status"}) != "True") continue;
    if (string_at(condition, {"type"}) == "Complete") return Ended::well;
    if (string_at(condition, {"type"}) == "Failed") return Ended::badly;
  }
  return Ended::no;
}

// A Job whose pod can never run would be waited for in vain.
std::string stuck(const Surroundings& around, const Words& place, const std::string& name) {
  const auto answer =
      ask_one(around, quietly({"get", "pods", place[0], place[1], "-l",
                               "batch.kubernetes.io/job-name=" + name, "-o", "json"}));
  if (!answer || !answer->ok()) return "";
  const auto list = kube::parse_json(answer->out);
  if (!list) return "";
  if (items_of(*list).empty()) return "no pod was made for it (Pod Security, a quota?)";
  const Json& object = items_of(*list).front();
  const Pod pod = read_pod(object);
  if (pod.phase != "Pending") return "";
  if (!pod.unscheduled.empty()) return "no node takes its pod: " + pod.unscheduled;
  const Json* const statuses = kube::find(object, {"status", "containerStatuses"});
  if (statuses == nullptr || !statuses->is_array() || statuses->empty())
    return "its pod is pending";
  return "its container is not started: " +
         printable(string_at((*statuses)[0], {"state", "waiting", "reason"}) + ' ' +
                       string_at((*statuses)[0], {"state", "waiting", "message"}),
                   300);
}

Result<Page> wait_and_tell(const Surroundings& around, const ReleaseTarget& target,
                           const std::string& job) {
  const Words place = {"-n", target.namespace_name};
  const std::string name = job.substr(job.rfind('/') + 1);
  const TimePoint began = around.clock.now();
  Ended ended = Ended::no;
  std::string trouble;
  while (ended == Ended::no && trouble.empty()) {
    around.sleep(kLookEvery);
    const auto answer =
        ask_one(around, quietly({"get", "job", name, place[0], place[1], "-o", "json"}));
    if (answer && answer->ok())
      if (const auto object = kube::parse_json(answer->out)) ended = state_of(*object);
    const Micros passed = around.clock.now() - began;
    if (ended == Ended::no && passed > kForThePod) trouble = stuck(around, place, name);
    if (passed > kForTheLease) trouble = "it has not ended in time";
  }
  const auto said = ask_one(around, quietly({"logs", "job/" + name, place[0], place[1]}));
  std::string text = said && said->ok() ? said->out : std::string();
  while (text.ends_with('\n')) text.pop_back();
  if (ended == Ended::no)
    return Error{
        Code::unreachable, "Job " + target.namespace_name + '/' + name + ": " + trouble,
        "it stays for a look: kubectl -n " + target.namespace_name + " describe job " + name};
  // Its own ttl removes it as well; an error here is none.
  (void)ask_one(around, quietly({"delete", "job", name, place[0], place[1], "--wait=false"}));
  Page page = message(text.empty() ? "Job " + name + " has ended" : text,
                      {{"lock", target.lock}, {"released", ended == Ended::well}, {"said", text}});
  page.exit_code = ended == Ended::well ? 0 : 1;
  return page;
}

}  // namespace

Result<Page> release(const Arguments& arguments, const Surroundings& around) {
  const Result<std::string> place = current_namespace(arguments, around);
  if (!place) return place.error();
  Arguments looking = arguments;
  looking.namespace_name = *place;
  if (const std::size_t slash = arguments.name.find('/');
      slash != std::string::npos && !arguments.name.starts_with("_cluster/"))
    looking.namespace_name = arguments.name.substr(0, slash);
  const Result<Cluster> cluster = gather(looking, around, Scope::gated_runs);
  if (!cluster) return cluster.error();
  const Result<ReleaseTarget> target = release_target(*cluster, arguments.name, *place);
  if (!target) return target.error();
  const std::string holder = holder_words(*cluster, target->lock);
  if (!arguments.force && !arguments.dry_run)
    return Error{Code::usage,
                 "lock " + target->lock + ": " + holder + "; its holder's command would be stopped",
                 "to do it: " + own_command(arguments, *target)};
  const Result<StoreAccess> access = find_access(arguments, around, *target);
  if (!access) return access.error();
  const Json job =
      release_job(*target, *access, arguments.no_wait ? Waiting::no : Waiting::until_free);
  if (arguments.dry_run) return show_dry_run(around, *target, job, holder);
  around.say("lock " + target->lock + ": " + holder);
  const auto created = ask_one(around, {{"create", "-f", "-", "-o", "name"},
                                        KubectlCall::Complaints::shown,
                                        kube::to_text(job) + '\n'});
  if (!created) return created.error();
  if (!created->ok())
    return Error{Code::unreachable, "kubectl could not create the Job that releases it",
                 "what it said stands above; it needs the right to create Jobs in namespace " +
                     target->namespace_name + ", or run `cronlatch release " + target->lock +
                     " --force` where the store can be reached"};
  const std::string name = created->out.substr(0, created->out.find('\n'));
  around.say("created " + name + " in namespace " + target->namespace_name + "; waiting for it");
  return wait_and_tell(around, *target, name);
}

}  // namespace cronlatch::plugin
