// SPDX-License-Identifier: Apache-2.0
// Finds the injected wrapper in a container's command line: a container with it is gated. The
// rewrite, the reconciler and the plugin use it. The chart's policy cronlatch-gated-jobs has the
// same rule in CEL. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cronlatch {

// [begin, end): the binary, "run", "--isolated", the options and the "--" after them.
struct GateSpan {
  std::size_t begin, end;
};

// The wrapper as the rewrite writes it, if it starts at this index.
std::optional<GateSpan> gate_at(const std::vector<std::string>& argv, std::size_t index);

// The wrapper that `argv` runs: at the start, or after another program (vault-env, tini,
// "op run --"). Only the first occurrence of the binary counts. After a shell's -c it is an
// argument of a script, so it does not count there.
std::optional<GateSpan> find_gate(const std::vector<std::string>& argv);

}  // namespace cronlatch
