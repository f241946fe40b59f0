// SPDX-License-Identifier: Apache-2.0
#include "plugin/release.h"

#include "base/text.h"
#include "labels/names.h"
#include "options/options.h"
#include "plugin/kubectl_json.h"
#include "plugin/read_cluster.h"
#include "plugin/release_plan.h"
#include "plugin/release_wait.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;
using kube::string_at;

// A name without a slash is in kubectl's namespace.
Result<std::string> current_namespace(const Arguments& arguments, const Context& context) {
  if (!arguments.namespace_name.empty()) return arguments.namespace_name;
  const auto answer = run_one(
      context.kubectl, captured({"config", "view", "--minify", "-o", "jsonpath={..namespace}"}));
  if (!answer) return answer.error();
  return answer->ok() && !answer->out.empty() ? answer->out : std::string("default");
}

// It becomes a part of the Job, which every reader of Jobs can see: no password.
Status check_store(const std::string& store) {
  const Status valid = check_store_url(store);
  if (valid) return Done{};
  return Error{Code::usage, "--store: " + valid.error().message, valid.error().hint};
}

// The store access of the newest gated Job or pod in the namespace.
Result<PodStoreAccess> find_access(const Arguments& arguments, const Context& context,
                                   const ReleaseTarget& target) {
  if (!arguments.store.empty())
    if (const Status valid = check_store(arguments.store); !valid) return valid.error();
  if (!arguments.image.empty() && !arguments.store.empty()) {
    PodStoreAccess access;
    access.image = arguments.image;
    access.store_volume =
        secret_volume(arguments.secret.empty() ? std::string(kStoreVolume) : arguments.secret);
    access.flags = {"--store=" + arguments.store,
                    "--credentials-dir=" + std::string(kStoreDirectory)};
    return access;
  }
  const auto answers =
      context.kubectl.run({captured({"get", "jobs", "-n", target.namespace_name, "-o", "json"}),
                           captured({"get", "pods", "-n", target.namespace_name, "-l",
                                     std::string(kGatedLabel) + "=true", "-o", "json"})});
  if (!answers) return answers.error();
  std::optional<PodStoreAccess> found;
  std::string newest, refused;
  const auto find_in = [&](const KubectlResult& answer,
                           std::initializer_list<std::string_view> spec_at) {
    const auto list = parse_list(answer, "Jobs and pods");
    if (!answer.ok() || !list) {
      refused = " that this user may read (" +
                (answer.ok() ? list.error().message : error_line(answer)) + ')';
      return;
    }
    for (const Json& item : items_of(*list)) {
      const Json* const spec = kube::find(item, spec_at);
      auto access = spec == nullptr ? std::nullopt : store_access(*spec);
      std::string made = string_at(item, {"metadata", "creationTimestamp"});
      if (!access || made < newest) continue;
      newest = std::move(made);
      found = std::move(access);
    }
  };
  find_in((*answers)[0], {"spec", "template", "spec"});
  find_in((*answers)[1], {"spec"});
  if (found) return *found;
  return Error{Code::usage,
               "namespace " + target.namespace_name +
                   " has no gated Job or pod with the image, the store and the Secret" + refused,
               "specify them: kubectl cronlatch release " + target.lock + " -n " +
                   target.namespace_name +
                   " --image IMAGE --store URL [--secret NAME] --force; or, on a host that "
                   "reaches the store: cronlatch release " +
                   target.lock + " --force"};
}

std::string own_command(const Arguments& arguments, const ReleaseTarget& target) {
  return "kubectl cronlatch release " + arguments.name + " -n " + target.namespace_name +
         " --force";
}

Result<Output> show_dry_run(const Context& context, const ReleaseTarget& target, const Json& job,
                            const std::string& holder) {
  const std::string text = kube::to_text(job);
  const auto allowed =
      run_one(context.kubectl,
              captured({"create", "--dry-run=server", "-f", "-", "-o", "name"}, text + '\n'));
  if (!allowed) return allowed.error();
  const std::string result = allowed->ok()
                                 ? "the API server accepts the Job"
                                 : "the API server refuses the Job: " + error_line(*allowed);
  context.report_progress("lock " + target.lock + ": " + holder + "; nothing was changed; " +
                          result);
  Output output;
  output.sections.push_back({.lines = {job.dump(2, ' ', false, Json::error_handler_t::replace)}});
  output.json = job;
  output.exit_code = allowed->ok() ? 0 : 1;
  return output;
}

}  // namespace

Result<Output> release(const Arguments& arguments, const Context& context) {
  const Result<std::string> place = current_namespace(arguments, context);
  if (!place) return place.error();
  Arguments scoped = arguments;
  scoped.namespace_name = *place;
  if (const std::size_t slash = arguments.name.find('/');
      slash != std::string::npos && !arguments.name.starts_with("_cluster/"))
    scoped.namespace_name = arguments.name.substr(0, slash);
  const Result<Cluster> cluster = read_cluster(scoped, context, ReadScope::gated_runs);
  if (!cluster) return cluster.error();
  const Result<ReleaseTarget> target = release_target(*cluster, arguments.name, *place);
  if (!target) return target.error();
  const std::string holder = holder_text(*cluster, target->lock);
  if (!arguments.force && !arguments.dry_run)
    return Error{
        Code::usage,
        "lock " + target->lock + ": " + holder +
            (is_cooling(*cluster, target->lock) ? "; with --force it is opened immediately"
                                                : "; with --force its holder stops its command"),
        "to revoke the lease: " + own_command(arguments, *target)};
  const Result<PodStoreAccess> access = find_access(arguments, context, *target);
  if (!access) return access.error();
  const Json job =
      release_job(*target, *access, arguments.no_wait ? ReleaseWait::no : ReleaseWait::until_free);
  if (arguments.dry_run) return show_dry_run(context, *target, job, holder);
  context.report_progress("lock " + target->lock + ": " + holder);
  const auto created = run_one(context.kubectl, {{"create", "-f", "-", "-o", "name"},
                                                 KubectlCall::ErrorOutput::inherited,
                                                 kube::to_text(job) + '\n'});
  if (!created) return created.error();
  if (!created->ok())
    return Error{
        Code::unreachable, "kubectl could not create the Job that revokes the lease",
        "its error message is above; the command needs the right to create Jobs in namespace " +
            target->namespace_name + "; or, on a host that reaches the store: cronlatch release " +
            target->lock + " --force"};
  const std::string name = created->out.substr(0, created->out.find('\n'));
  context.report_progress("created " + name + " in namespace " + target->namespace_name +
                          "; waiting for its end");
  return await_release_job(context, *target, name);
}

}  // namespace cronlatch::plugin
