// SPDX-License-Identifier: Apache-2.0
#include "admission/user_command.h"

#include <algorithm>

#include "base/text.h"
#include "image/reference.h"
#include "labels/gate_argv.h"

namespace cronlatch::op {
namespace {

using Words = std::vector<std::string>;

// The rewrite puts the wrapper before any other program, so it searches at every index.
std::optional<GateSpan> find_wrapper(const Words& argv) {
  for (std::size_t i = 0; i < argv.size(); ++i)
    if (const auto wrapper = gate_at(argv, i)) return wrapper;
  return std::nullopt;
}

// A container's command and args without the wrapper.
struct OwnWords {
  Words command, args;
  std::string by_arch;  // the wrapper's --command-by-arch
  // Everything in `command` was before such a wrapper.
  bool is_before_by_arch = false;
};

OwnWords own_words(const Words& command, const Words& args) {
  OwnWords own;
  Words all = command;
  all.insert(all.end(), args.begin(), args.end());
  std::size_t command_size = command.size();
  while (const std::optional<GateSpan> wrapper = find_wrapper(all)) {
    for (std::size_t i = wrapper->begin; i < wrapper->end; ++i)
      if (own.by_arch.empty() && all[i].starts_with(kByArchFlag)) {
        own.by_arch = all[i].substr(kByArchFlag.size());
        own.is_before_by_arch = wrapper->end >= command_size;
      }
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(wrapper->begin),
              all.begin() + static_cast<std::ptrdiff_t>(wrapper->end));
    command_size -= std::min(wrapper->end, command_size) - std::min(wrapper->begin, command_size);
  }
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(command_size);
  own.command.assign(all.begin(), middle);
  own.args.assign(middle, all.end());
  return own;
}

// `before` in front of the command of each architecture.
std::string with_prefix_words(const Words& before, const std::string& by_arch) {
  Result<StringLists> lists = parse_json_string_lists(by_arch);
  if (!lists.ok()) return by_arch;
  for (auto& [arch, words] : *lists) words.insert(words.begin(), before.begin(), before.end());
  return show_json_string_lists(*lists);
}

std::string no_entrypoint_and_cmd(const std::string& arch = "") {
  return "it has neither ENTRYPOINT nor CMD" + (arch.empty() ? "" : " on " + arch);
}

// An image whose platforms differ. `args` of the container replace every CMD.
Result<UserCommand> command_by_arch(const Entrypoint& entrypoint, bool has_args) {
  StringLists lists;
  for (const auto& [arch, image_command] : entrypoint.by_arch) {
    Words& words = lists[arch] = image_command.entrypoint;
    if (!has_args) words.insert(words.end(), image_command.cmd.begin(), image_command.cmd.end());
    if (words.empty() && !has_args) return Error{Code::config, no_entrypoint_and_cmd(arch)};
  }
  const Words first = lists.begin()->second;
  const bool same = std::all_of(lists.begin(), lists.end(),
                                [&](const auto& entry) { return entry.second == first; });
  if (same) return UserCommand{first, std::nullopt, "", entrypoint.from, entrypoint.pinned};
  return UserCommand{
      {}, std::nullopt, show_json_string_lists(lists), entrypoint.from, entrypoint.pinned};
}

Result<UserCommand> command_of_image(const Entrypoint& entrypoint, bool has_args) {
  if (!entrypoint.by_arch.empty()) return command_by_arch(entrypoint, has_args);
  if (entrypoint.entrypoint.empty() && entrypoint.cmd.empty() && !has_args)
    return Error{Code::config, no_entrypoint_and_cmd()};
  UserCommand command{entrypoint.entrypoint, std::nullopt, "", entrypoint.from, entrypoint.pinned};
  if (!entrypoint.cmd.empty() && !has_args) command.args = entrypoint.cmd;
  return command;
}

std::string command_path(const JobView& job, std::size_t index) {
  return job.container_path(index) + ".command";
}

// `unknown`: why the image's command is not known, and what the platform can do.
void add_unknown(const JobView& job, std::size_t index, const Error& unknown, Findings& findings) {
  const ContainerView& container = job.containers[index];
  findings.add(command_path(job, index), "its image's command is unknown",
               "user: run kubectl cronlatch entrypoint IMAGE, write " + example_of("command") +
                   (unknown.hint.empty() ? "" : "; platform: " + unknown.hint),
               "container " + cronlatch::quoted(container.name) + ", image " +
                   cronlatch::quoted(container.image, image::kMaxShownName) +
                   (unknown.message.empty() ? "" : ": " + unknown.message));
}

}  // namespace

std::vector<std::string> without_wrapper(const std::vector<std::string>& command) {
  return own_words(command, {}).command;
}

std::optional<UserCommand> user_command(const JobView& job, std::size_t index,
                                        const LockRequest& request, const EntrypointSource& source,
                                        Findings& findings) {
  const ContainerView& container = job.containers[index];
  const OwnWords own = own_words(container.command, container.args);
  const auto moved = own.args == container.args ? std::nullopt : std::optional(own.args);
  if (!own.by_arch.empty() && (own.command.empty() || own.is_before_by_arch))
    return UserCommand{{}, moved, with_prefix_words(own.command, own.by_arch)};
  if (!own.command.empty()) return UserCommand{own.command, moved};
  // Already gated, and its image has no ENTRYPOINT: the args are the command.
  if (!container.command.empty() && container.has_args) return UserCommand{{}, moved};
  if (!request.command.empty()) return UserCommand{request.command, std::nullopt};
  if (!request.command_where.empty()) return std::nullopt;  // its value is invalid
  const EntrypointResult found = source.find(
      {container.image, job.origin.namespace_name, *job.pod_spec, command_path(job, index)});
  if (const auto* const unknown = std::get_if<UnknownEntrypoint>(&found)) {
    add_unknown(job, index, {Code::config, unknown->reason, unknown->hint}, findings);
    return std::nullopt;
  }
  Result<UserCommand> command = command_of_image(std::get<Entrypoint>(found), container.has_args);
  if (command.ok()) return std::move(command).value();
  add_unknown(job, index, command.error(), findings);
  return std::nullopt;
}

}  // namespace cronlatch::op
