// SPDX-License-Identifier: Apache-2.0
#include "plugin/run_verb.h"

#include <optional>
#include <utility>

#include "plugin/help.h"
#include "plugin/render.h"

namespace cronlatch::plugin {
namespace {

constexpr Millis kWatchInterval{5'000};

std::string separator(OutputFormat format) {
  if (format == OutputFormat::yaml) return "---\n";
  return format == OutputFormat::table || format == OutputFormat::wide ? "\n" : "";
}

// The part of the JSON whose changes are printed. A renewal moves `expires` every few seconds, each
// read of the store moves `stateRead`, and the clock moves `next`; ages are in the table only.
kube::Json watched_part(kube::Json json) {
  if (!json.is_object() || !json.contains("cronjobs")) return json;
  json.erase("stateRead");
  for (kube::Json& cronjob : json["cronjobs"])
    for (const char* const key : {"expires", "next"}) cronjob.erase(key);
  return json;
}

Error watch(const Arguments& arguments, const Context& context, const Print& print) {
  std::optional<kube::Json> printed;
  std::string failure;  // that was reported last
  for (;; context.sleep(kWatchInterval)) {
    const Result<Output> output = arguments.verb->function(arguments, context);
    if (!output) {
      if (!printed) return output.error();
      if (failure != output.error().message)
        context.report_progress(output.error().message + " (" + output.error().hint + ')');
      failure = output.error().message;
      continue;
    }
    failure.clear();
    kube::Json current = watched_part(output->json);
    if (!printed || *printed != current) {
      const std::string text = render(*output, arguments.output);
      const Status status = print(printed ? separator(arguments.output) + text : text);
      if (!status) return status.error();
      printed = std::move(current);
    }
  }
}

}  // namespace

Result<int> run_verb(const Arguments& arguments, const Context& context, const Print& print) {
  if (arguments.watch && !arguments.help) return watch(arguments, context, print);
  Arguments topic;
  topic.name = arguments.verb->name == "help" ? arguments.name : std::string(arguments.verb->name);
  const Result<Output> output =
      arguments.help ? help(topic, context) : arguments.verb->function(arguments, context);
  if (!output) return output.error();
  if (const Status status = print(render(*output, arguments.output)); !status)
    return status.error();
  return output->exit_code;
}

}  // namespace cronlatch::plugin
