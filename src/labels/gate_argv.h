// SPDX-License-Identifier: Apache-2.0
// What counts as gated: where the injected wrapper is in the words that a container runs. The
// rewrite, the alarm, the outcome of pods and the plugin use it; the chart's policy
// cronlatch-gated-jobs has the same criterion in CEL. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cronlatch {

// [begin, end): the binary, "run", "--isolated", the options and the "--" behind them.
struct GateSpan {
  std::size_t begin, end;
};

// The wrapper as the rewrite writes it, where it begins at this index.
std::optional<GateSpan> gate_at(const std::vector<std::string>& argv, std::size_t index);

// The wrapper that `argv` runs: its first words, or behind another program that was put before it
// (vault-env, tini, "op run --"). Only the first mention of the binary counts. Behind a shell's -c
// it would be an argument of a script, so it does not count there.
std::optional<GateSpan> find_gate(const std::vector<std::string>& argv);

}  // namespace cronlatch
