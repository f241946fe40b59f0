// SPDX-License-Identifier: Apache-2.0
#include "admission/user_command.h"

#include <algorithm>

#include "base/text.h"
#include "image/reference.h"

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

std::optional<std::size_t> named_container(const Workload& workload, const LockRequest& request,
                                           Findings& findings) {
  const auto& containers = kube::items_at(workload.pod_spec(), {"containers"});
  if (const auto index = index_of_name(containers, request.container)) return index;
  const auto& inits = kube::items_at(workload.pod_spec(), {"initContainers"});
  const std::string name = cronlatch::quoted(request.container);
  findings.add(request.container_where,
               index_of_name(inits, request.container)
                   ? name + " is an init container, and those cannot be gated"
                   : "there is no container " + name,
               "the pod has " + names_of(containers) + "; " + for_example(containers));
  return std::nullopt;
}

using Words = std::vector<std::string>;

// Our wrapper wherever it is: a rewrite trusts no program before it, and puts it first.
std::optional<GateSpan> find_wrapper(const Words& argv) {
  for (std::size_t i = 0; i < argv.size(); ++i)
    if (const auto wrapper = gate_at(argv, i)) return wrapper;
  return std::nullopt;
}

// A container's words without our wrapper, which another webhook may have moved to `args`.
struct OwnWords {
  Words command, args;
  std::string by_arch;  // what the wrapper was told to run on each architecture
  // All that is left of `command` stood before such a wrapper.
  bool before_by_arch = false;
};

OwnWords own_words(const Words& command, const Words& args) {
  OwnWords own;
  Words all = command;
  all.insert(all.end(), args.begin(), args.end());
  std::size_t commands = command.size();
  while (const std::optional<GateSpan> wrapper = find_wrapper(all)) {
    for (std::size_t i = wrapper->begin; i < wrapper->end; ++i)
      if (own.by_arch.empty() && all[i].starts_with(kByArchFlag)) {
        own.by_arch = all[i].substr(kByArchFlag.size());
        own.before_by_arch = wrapper->end >= commands;
      }
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(wrapper->begin),
              all.begin() + static_cast<std::ptrdiff_t>(wrapper->end));
    commands -= std::min(wrapper->end, commands) - std::min(wrapper->begin, commands);
  }
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(commands);
  own.command.assign(all.begin(), middle);
  own.args.assign(middle, all.end());
  return own;
}

// `before` in front of what each architecture runs.
std::string with_before(const Words& before, const std::string& by_arch) {
  Result<StringLists> lists = parse_json_string_lists(by_arch);
  if (!lists.ok()) return by_arch;
  for (auto& [arch, words] : *lists) words.insert(words.begin(), before.begin(), before.end());
  return show_json_string_lists(*lists);
}

// An image that is not the same everywhere. `args` of the container take every CMD's place.
std::optional<UserCommand> command_by_arch(const Entrypoint& known, bool has_args,
                                           std::string& unknown) {
  StringLists lists;
  for (const auto& [arch, startup] : known.by_arch) {
    std::vector<std::string>& words = lists[arch] = startup.entrypoint;
    if (!has_args) words.insert(words.end(), startup.cmd.begin(), startup.cmd.end());
    if (words.empty() && !has_args) unknown = "it has neither ENTRYPOINT nor CMD on " + arch;
  }
  if (!unknown.empty()) return std::nullopt;
  const std::vector<std::string> first = lists.begin()->second;
  const bool same =
      std::all_of(lists.begin(), lists.end(), [&](const auto& one) { return one.second == first; });
  if (same) return UserCommand{first, std::nullopt, "", known.from, known.pinned};
  return UserCommand{{}, std::nullopt, show_json_string_lists(lists), known.from, known.pinned};
}

void refuse_unknown(const Workload& workload, std::size_t container, const std::string& why,
                    const std::string& fix, Findings& findings) {
  const Json& it = kube::items_at(workload.pod_spec(), {"containers"})[container];
  findings.add(workload.container_path(container) + ".command",
               "container " + cronlatch::quoted(kube::string_at(it, {"name"})) +
                   " has no command, and what image " +
                   cronlatch::quoted(kube::string_at(it, {"image"}), image::kMaxShownName) +
                   " runs is not known" + (why.empty() ? "" : ": " + why),
               (fix.empty() ? "" : fix + ", or ") +
                   "write the image's ENTRYPOINT (and its CMD, if there are no args) as command: "
                   "[...], or as " +
                   example_of("command"));
}

}  // namespace

std::optional<std::size_t> gated_container(const Workload& workload, const LockRequest& request,
                                           Findings& findings) {
  const auto& containers = kube::items_at(workload.pod_spec(), {"containers"});
  if (!request.container.empty()) return named_container(workload, request, findings);
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
  return own_words(command, {}).command;
}

std::optional<UserCommand> user_command(const Workload& workload, std::size_t container,
                                        const LockRequest& request, const EntrypointSource& source,
                                        Findings& findings) {
  const Json& it = kube::items_at(workload.pod_spec(), {"containers"})[container];
  const std::vector<std::string> written = kube::strings_at(it, {"command"});
  const std::vector<std::string> args = kube::strings_at(it, {"args"});
  const bool has_args = !kube::items_at(it, {"args"}).empty();
  const OwnWords own = own_words(written, args);
  const auto moved = own.args == args ? std::nullopt : std::optional(own.args);
  if (!own.by_arch.empty() && (own.command.empty() || own.before_by_arch))
    return UserCommand{{}, moved, with_before(own.command, own.by_arch)};
  if (!own.command.empty()) return UserCommand{own.command, moved};
  // Gated already, and its image has no ENTRYPOINT: the arguments are the command.
  if (!written.empty() && has_args) return UserCommand{{}, moved};
  if (!request.command.empty()) return UserCommand{request.command, std::nullopt};
  const std::string image = kube::string_at(it, {"image"});
  const EntrypointResult answer =
      source.find({image, workload.namespace_name, workload.pod_spec()});
  const auto* const known = std::get_if<Entrypoint>(&answer);
  if (known == nullptr) {
    const UnknownEntrypoint& unknown = std::get<UnknownEntrypoint>(answer);
    refuse_unknown(workload, container, unknown.why, unknown.fix, findings);
    return std::nullopt;
  }
  if (!known->by_arch.empty()) {
    std::string unknown;
    auto found = command_by_arch(*known, has_args, unknown);
    if (!found) refuse_unknown(workload, container, unknown, "", findings);
    return found;
  }
  if (known->entrypoint.empty() && known->cmd.empty() && !has_args) {
    refuse_unknown(workload, container, "it has neither ENTRYPOINT nor CMD", "", findings);
    return std::nullopt;
  }
  UserCommand found{known->entrypoint, std::nullopt, "", known->from, known->pinned};
  if (!known->cmd.empty() && !has_args) found.args = known->cmd;
  return found;
}

}  // namespace cronlatch::op
