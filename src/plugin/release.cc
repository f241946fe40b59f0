// SPDX-License-Identifier: Apache-2.0
#include "plugin/release.h"

#include "base/text.h"
#include "labels/names.h"
#include "plugin/gather.h"
#include "plugin/release_plan.h"
#include "plugin/release_wait.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;
using kube::string_at;

// A name without a slash needs kubectl's namespace, which only kubectl knows.
Result<std::string> current_namespace(const Arguments& arguments, const Surroundings& around) {
  if (!arguments.namespace_name.empty()) return arguments.namespace_name;
  const auto answer = ask_one(
      around.kubectl, quietly({"config", "view", "--minify", "-o", "jsonpath={..namespace}"}));
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

Result<Page> show_dry_run(const Surroundings& around, const ReleaseTarget& target, const Json& job,
                          const std::string& holder) {
  const std::string text = kube::to_text(job);
  const auto allowed =
      ask_one(around.kubectl,
              quietly({"create", "--dry-run=server", "-f", "-", "-o", "name"}, text + '\n'));
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
    return Error{
        Code::usage,
        "lock " + target->lock + ": " + holder +
            (is_cooling(*cluster, target->lock) ? "; it would be opened at once"
                                                : "; its holder's command would be stopped"),
        "to do it: " + own_command(arguments, *target)};
  const Result<StoreAccess> access = find_access(arguments, around, *target);
  if (!access) return access.error();
  const Json job =
      release_job(*target, *access, arguments.no_wait ? Waiting::no : Waiting::until_free);
  if (arguments.dry_run) return show_dry_run(around, *target, job, holder);
  around.say("lock " + target->lock + ": " + holder);
  const auto created = ask_one(around.kubectl, {{"create", "-f", "-", "-o", "name"},
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
