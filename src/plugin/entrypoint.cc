// SPDX-License-Identifier: Apache-2.0
#include "plugin/entrypoint.h"

#include <array>

#include "base/text.h"
#include "image/manifest.h"
#include "image/reference.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;

// The command is almost always the same for each architecture. An image can lack the first.
const std::array<std::string, 2> kArchitectures = {"amd64", "arm64"};

// Programs that read the configuration of an image from its registry, in this order.
struct Tool {
  const char* program;
  std::vector<std::string> (*args)(const std::string& image, const std::string& architecture);
};
const std::array<Tool, 3> kTools = {{
    {"skopeo",
     [](const std::string& image, const std::string& architecture) -> std::vector<std::string> {
       return {"--override-os", "linux",    "--override-arch",  architecture,
               "inspect",       "--config", "docker://" + image};
     }},
    {"crane",
     [](const std::string& image, const std::string& architecture) -> std::vector<std::string> {
       return {"config", "--platform", "linux/" + architecture, image};
     }},
    {"docker",  // reads all of them
     [](const std::string& image, const std::string&) -> std::vector<std::string> {
       return {"buildx", "imagetools", "inspect", "--format", "{{json .Image}}", image};
     }},
}};

// docker returns the configuration of one platform, or an object with those of all platforms.
std::string one_platform(const std::string& out) {
  const Result<Json> json = kube::parse_json(out);
  if (!json || !json->is_object() || json->contains("config")) return out;
  for (const std::string& architecture : kArchitectures) {
    const std::string platform = "linux/" + architecture;
    if (const Json* const wanted = kube::find(*json, {platform})) return wanted->dump();
  }
  for (const auto& [platform, config] : json->items())
    if (platform.starts_with("linux/")) return config.dump();
  return out;
}

Result<std::string> read_config(const std::string& image, const Context& context) {
  std::string errors;
  for (const Tool& tool : kTools) {
    for (const std::string& architecture : kArchitectures) {
      const Result<KubectlResult> result =
          context.run_program(tool.program, tool.args(image, architecture));
      if (!result && result.error().code == Code::exec_missing) break;
      if (result && result->ok()) return one_platform(result->out);
      if (architecture != kArchitectures.front()) continue;  // its error is that of the first
      const std::string reason = result ? error_line(*result) : result.error().message;
      errors += (errors.empty() ? "" : "; ") + std::string(tool.program) + ": " + reason;
    }
  }
  if (errors.empty())
    return Error{Code::exec_missing, "none of skopeo, crane and docker is installed here",
                 "install one of them, or read ENTRYPOINT and CMD in the image's Dockerfile"};
  return Error{Code::unreachable, "cannot read the image's configuration: " + errors,
               "log in to the registry with that program, for example skopeo login"};
}

// As a line of YAML; a quote within single quotes is doubled. A dollar sign is doubled, too: the
// kubelet replaces $(NAME) in a container's command, but not in an image's.
std::string annotation(const std::vector<std::string>& words) {
  std::string value;
  for (const char c : show_json_strings(words))
    value += c == '\'' || c == '$' ? std::string(2, c) : std::string(1, c);
  return "cronlatch.dev/command: '" + value + "'";
}

Output output_of(const std::string& image, const image::ImageCommand& command) {
  std::vector<std::string> all = command.entrypoint;
  all.insert(all.end(), command.cmd.begin(), command.cmd.end());
  Section section{.table = {{"image", image},
                            {"ENTRYPOINT", show_json_strings(command.entrypoint)},
                            {"CMD", show_json_strings(command.cmd)}}};
  Section annotations{.title = "annotation"};
  if (all.empty())
    annotations.lines = {"none: the image has no command, so the container must have one"};
  if (!all.empty()) annotations.lines = {"without args: " + annotation(all)};
  // With args, Kubernetes ignores the image's CMD.
  if (!all.empty() && !command.entrypoint.empty())
    annotations.lines.push_back("with args:    " + annotation(command.entrypoint));
  Output output;
  output.sections = {std::move(section), std::move(annotations)};
  output.json = {{"image", image}, {"entrypoint", command.entrypoint}, {"cmd", command.cmd}};
  return output;
}

}  // namespace

Result<Output> entrypoint(const Arguments& arguments, const Context& context) {
  const auto image = image::parse_reference(arguments.name);
  if (!image)
    return Error{Code::usage, cronlatch::quoted(arguments.name) + ": " + image.error().message,
                 image.error().hint};
  const Result<std::string> config = read_config(image->text(), context);
  if (!config) return config.error();
  const auto command = image::parse_config(*config);
  if (!command) return command.error();
  return output_of(image->text(), *command);
}

}  // namespace cronlatch::plugin
