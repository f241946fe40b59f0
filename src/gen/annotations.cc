// SPDX-License-Identifier: Apache-2.0
// The table of annotations in docs/kubernetes.md, and the example that sets every option.
#include <cctype>

#include "admission/annotation_table.h"
#include "admission/annotations.h"
#include "gen/markdown.h"
#include "gen/pages.h"
#include "options/options.h"

namespace cronlatch::gen {
namespace {

// `cronlatch.dev/ttl: "2m"` -> `"2m"`
std::string example_cell(std::string_view key) {
  const std::string example = op::example_of(key);
  return code(example.substr(example.find(": ") + 2));
}

// "length of the lease" -> "Length of the lease."
std::string sentence(std::string_view help) {
  std::string out(help);
  out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return out + ".";
}

std::string option_row(const Option& option) {
  // The annotation requests the lock; the option only names it.
  if (option.key == "lock")
    return row({code(annotation_of(option)), example_cell(option.key), code("false"),
                "true, false, or " + std::string(option.limits),
                std::string(option.annotation.note)});
  std::string meaning = sentence(option.help);
  if (!option.annotation.note.empty()) meaning += " " + std::string(option.annotation.note);
  return row({code(annotation_of(option)), example_cell(option.key), default_cell(option),
              std::string(option.limits), meaning});
}

}  // namespace

std::string annotation_table() {
  std::string out = "\n" + header({"annotation", "example", "default", "allowed", "meaning"});
  for (const Option& option : option_table())
    if (option.annotatable()) out += option_row(option);
  for (const op::ExtraKey& extra : op::kExtraKeys)
    out +=
        row({code("cronlatch.dev/" + std::string(extra.key)), example_cell(extra.key),
             std::string(extra.fallback), std::string(extra.allowed), std::string(extra.meaning)});
  return out + "\n";
}

std::string all_options_example() {
  std::string out = R"(# SPDX-License-Identifier: Apache-2.0
# Every option that may be an annotation, with the example of its row in src/options/option_table.cc.
# Rendered by `./dev gen`. Do not edit.
apiVersion: batch/v1
kind: CronJob
metadata:
  name: all-options
  namespace: demo
  annotations:
)";
  for (const Option& option : option_table())
    if (option.annotatable()) out += "    " + op::example_of(option.key) + "\n";
  return out + R"(spec:
  schedule: "0 2 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          securityContext: {runAsNonRoot: true, runAsUser: 65534, seccompProfile: {type: RuntimeDefault}}
          containers:
          - name: report
            image: cronlatch.test/shell:1
            command: [sh, -c, "echo started; sleep 20; echo done"]
            securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
)";
}

}  // namespace cronlatch::gen
