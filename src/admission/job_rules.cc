// SPDX-License-Identifier: Apache-2.0
#include "admission/job_rules.h"

#include <algorithm>

#include "core/text.h"

namespace cronlatch::op {
namespace {

using kube::Json;

std::string names_of(const std::vector<Json>& containers) {
  std::string names;
  for (const Json& container : containers)
    names += (names.empty() ? "" : ", ") + printable(kube::string_at(container, {"name"}), 63);
  return names;
}

std::string for_example(const std::vector<Json>& containers) {
  const std::string first = containers.empty() ? "" : kube::string_at(containers[0], {"name"});
  return "write for example cronlatch.dev/container: \"" +
         (first.empty() ? "main" : printable(first, 63)) + "\"";
}

std::optional<std::size_t> named_container(const Workload& workload, const Wishes& wishes,
                                           Findings& findings) {
  const auto& containers = items_at(workload.pod_spec(), {"containers"});
  if (const auto index = index_of_name(containers, wishes.container)) return index;
  const auto& inits = items_at(workload.pod_spec(), {"initContainers"});
  const std::string name = cronlatch::quoted(wishes.container);
  findings.add(wishes.container_where,
               index_of_name(inits, wishes.container)
                   ? name + " is an init container, and those cannot be gated"
                   : "there is no container " + name,
               "the pod has " + names_of(containers) + "; " + for_example(containers));
  return std::nullopt;
}

// Where in `command` our wrapper begins, and where what it runs begins.
struct Wrapper {
  std::size_t begin, end;
};
std::optional<Wrapper> find_wrapper(const std::vector<std::string>& command) {
  for (std::size_t i = 0; i + 2 < command.size(); ++i) {
    // --isolated tells ours from a `cronlatch run` that the user wrote.
    if (command[i] != kBinary || command[i + 1] != "run" || command[i + 2] != "--isolated")
      continue;
    const auto end = std::find(command.begin() + static_cast<std::ptrdiff_t>(i), command.end(),
                               std::string("--"));
    if (end == command.end()) return std::nullopt;
    return Wrapper{i, static_cast<std::size_t>(end - command.begin()) + 1};
  }
  return std::nullopt;
}

void refuse_parallel(const Workload& workload, Findings& findings) {
  const std::string why = "runs of one Job would wait for each other's lock";
  const auto parallelism = number_at(*workload.job, {"spec", "parallelism"});
  if (parallelism && *parallelism > 1)
    findings.add(workload.path + "spec.parallelism", std::to_string(*parallelism) + ": " + why,
                 "write parallelism: 1");
  const auto completions = number_at(*workload.job, {"spec", "completions"});
  if (completions && *completions > 1)
    findings.add(workload.path + "spec.completions", std::to_string(*completions) + ": " + why,
                 "write completions: 1");
}

void refuse_windows(const Workload& workload, Findings& findings) {
  const std::string why = "the wrapper is a Linux program";
  const std::string pod = workload.path + "spec.template.spec.";
  if (kube::string_at(workload.pod_spec(), {"os", "name"}) == "windows")
    findings.add(pod + "os.name", "windows: " + why, "leave cronlatch.dev/lock out");
  if (kube::string_at(workload.pod_spec(), {"nodeSelector", "kubernetes.io/os"}) == "windows")
    findings.add(pod + "nodeSelector[kubernetes.io/os]", "windows: " + why,
                 "leave cronlatch.dev/lock out");
}

// Our names in a pod that mean something else there.
void refuse_taken_names(const Workload& workload, std::size_t container, Findings& findings) {
  const auto& volumes = items_at(workload.pod_spec(), {"volumes"});
  const auto taken = [&](std::string_view name, const char* kind) {
    const auto at = index_of_name(volumes, name);
    if (at && kube::find(volumes[*at], {kind}) == nullptr)
      findings.add(workload.path + "spec.template.spec.volumes[" + std::to_string(*at) + "].name",
                   std::string(name) + " is the name of a volume that is added",
                   "choose another name");
  };
  taken(kBinVolume, "emptyDir");
  taken(kStoreVolume, "secret");
  const auto& mounts =
      items_at(items_at(workload.pod_spec(), {"containers"})[container], {"volumeMounts"});
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const std::string path = kube::string_at(mounts[i], {"mountPath"});
    const std::string name = kube::string_at(mounts[i], {"name"});
    const bool ours = path == kBinDirectory     ? name == kBinVolume
                      : path == kStoreDirectory ? name == kStoreVolume
                                                : true;
    if (!ours)
      findings.add(
          workload.container_path(container) + ".volumeMounts[" + std::to_string(i) + "].mountPath",
          path + " is where a volume is added", "mount yours elsewhere");
  }
}

void refuse_long_wait(const Workload& workload, const Wishes& wishes, Findings& findings) {
  const std::optional<Millis> deadline = active_deadline(workload);
  if (!deadline || wishes.annotated.count("wait-timeout") == 0) return;
  if (wishes.options.wait_timeout < *deadline) return;
  findings.add(workload.path + "spec.activeDeadlineSeconds",
               "the Job is ended after " + show_duration(*deadline) + ", waiting included, but " +
                   "cronlatch.dev/wait-timeout is " + show_duration(wishes.options.wait_timeout),
               "write for example cronlatch.dev/wait-timeout: \"" +
                   show_duration(std::max(Millis(1'000), *deadline / 2000 * 1000)) + "\"");
}

// "redis://cache:6379/0" -> "cache". Good enough to warn by.
std::string host_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return "";
  url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?,"));
  if (const std::size_t at = url.rfind('@'); at != std::string_view::npos)
    url.remove_prefix(at + 1);
  if (url.starts_with("[")) return std::string(url);
  return std::string(url.substr(0, url.find(':')));
}

// A name that only the cluster's DNS knows.
bool is_service_name(std::string host) {
  if (host.ends_with('.')) host.pop_back();
  if (host.empty() || host.starts_with("[")) return false;
  return host.find('.') == std::string::npos || host.ends_with(".svc") ||
         host.ends_with(".svc.cluster.local") || std::count(host.begin(), host.end(), '.') == 1;
}

void warn_of_network(const Workload& workload, const Settings& settings,
                     std::vector<std::string>& warnings) {
  const Json& pod = workload.pod_spec();
  const std::string policy = kube::string_at(pod, {"dnsPolicy"});
  const std::string host = host_of(settings.store);
  if (!is_true(pod, {"hostNetwork"}) || (!policy.empty() && policy != "ClusterFirst")) return;
  if (!is_service_name(host)) return;
  warnings.push_back(workload.path +
                     "spec.template.spec.hostNetwork: a pod on the host's network " +
                     "does not find the store " + printable(host, 80) +
                     "; write dnsPolicy: ClusterFirstWithHostNet");
}

}  // namespace

std::optional<std::size_t> gated_container(const Workload& workload, const Wishes& wishes,
                                           Findings& findings) {
  const auto& containers = items_at(workload.pod_spec(), {"containers"});
  if (!wishes.container.empty()) return named_container(workload, wishes, findings);
  const std::string preferred = kube::string_at(
      *workload.job,
      {"spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/default-container"});
  if (!preferred.empty() && index_of_name(containers, preferred))
    return index_of_name(containers, preferred);
  if (containers.size() == 1) return 0;
  const std::string where = workload.path + "spec.template.spec.containers";
  if (containers.empty()) {
    findings.add(where, "there is no container");
    return std::nullopt;
  }
  findings.add(where,
               "there are " + std::to_string(containers.size()) + " containers (" +
                   names_of(containers) + "), and nothing says which one to gate",
               for_example(containers));
  return std::nullopt;
}

std::vector<std::string> unwrapped(const std::vector<std::string>& command) {
  std::vector<std::string> rest = command;
  while (const std::optional<Wrapper> wrapper = find_wrapper(rest))
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(wrapper->begin),
               rest.begin() + static_cast<std::ptrdiff_t>(wrapper->end));
  return rest;
}

std::optional<UserCommand> user_command(const Workload& workload, std::size_t container,
                                        const Wishes& wishes, const EntrypointSource& source,
                                        Findings& findings) {
  const Json& it = items_at(workload.pod_spec(), {"containers"})[container];
  const std::vector<std::string> own = unwrapped(strings_at(it, {"command"}));
  if (!own.empty()) return UserCommand{own, std::nullopt};
  if (!wishes.command.empty()) return UserCommand{wishes.command, std::nullopt};
  const std::string image = kube::string_at(it, {"image"});
  const std::optional<Entrypoint> known = source.find(image);
  if (!known || known->entrypoint.empty()) {
    findings.add(workload.container_path(container) + ".command",
                 "container " + cronlatch::quoted(kube::string_at(it, {"name"})) +
                     " has no command, and what image " + cronlatch::quoted(image) +
                     " runs is not known",
                 "write the image's ENTRYPOINT (and its CMD, if there are no args) as command: "
                 "[...], or as " +
                     example_of("command"));
    return std::nullopt;
  }
  UserCommand found{known->entrypoint, std::nullopt};
  if (!known->cmd.empty() && items_at(it, {"args"}).empty()) found.args = known->cmd;
  return found;
}

void refuse_shapes(const Workload& workload, std::size_t container, const Wishes& wishes,
                   Findings& findings) {
  refuse_parallel(workload, findings);
  refuse_windows(workload, findings);
  refuse_taken_names(workload, container, findings);
  refuse_long_wait(workload, wishes, findings);
  const Json& it = items_at(workload.pod_spec(), {"containers"})[container];
  const Json* const post_start = kube::find(it, {"lifecycle", "postStart"});
  if (post_start != nullptr && !post_start->is_null())
    findings.add(workload.container_path(container) + ".lifecycle.postStart",
                 "it would run before the lock is taken",
                 "do its work at the beginning of the command");
  if (is_true(*workload.job, {"spec", "manualSelector"}))
    findings.add(workload.path + "spec.manualSelector",
                 "pods would not carry their Job's uid, by which a retry is told from a rival",
                 "leave manualSelector and selector out");
}

std::optional<Millis> active_deadline(const Workload& workload) {
  std::optional<Millis> shortest;
  for (const auto& seconds : {number_at(*workload.job, {"spec", "activeDeadlineSeconds"}),
                              number_at(workload.pod_spec(), {"activeDeadlineSeconds"})}) {
    constexpr std::int64_t kLongest = 3'155'760'000;  // 100 years
    if (!seconds || *seconds < 0 || *seconds > kLongest) continue;
    const Millis deadline{*seconds * 1000};
    if (!shortest || deadline < *shortest) shortest = deadline;
  }
  return shortest;
}

std::vector<std::string> warnings_for(const Workload& workload, std::size_t container,
                                      const Settings& settings) {
  std::vector<std::string> warnings;
  const auto& containers = items_at(workload.pod_spec(), {"containers"});
  const Json& it = containers[container];
  for (const char* const probe : {"livenessProbe", "startupProbe"}) {
    const Json* const there = kube::find(it, {probe});
    if (there != nullptr && there->is_object())
      warnings.push_back(
          workload.container_path(container) + "." + probe +
          ": it also probes while the container waits for its lock, and may kill it");
  }
  if (containers.size() > 1)
    warnings.push_back(workload.path +
                       "spec.template.spec.containers: the others run ungated, and "
                       "go on after a skip; make them native sidecars, or tell them to stop by "
                       "cronlatch.dev/skip-command");
  std::string before;
  for (const Json& init : items_at(workload.pod_spec(), {"initContainers"})) {
    const std::string name = kube::string_at(init, {"name"});
    if (name == kInstallContainer || kube::string_at(init, {"restartPolicy"}) == "Always") continue;
    before += (before.empty() ? "" : ", ") + printable(name, 63);
  }
  if (!before.empty())
    warnings.push_back(workload.path + "spec.template.spec.initContainers: " + before +
                       ": what runs there runs before the lock is taken");
  warn_of_network(workload, settings, warnings);
  return warnings;
}

}  // namespace cronlatch::op
