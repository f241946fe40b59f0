// SPDX-License-Identifier: Apache-2.0
#include "labels/gate_argv.h"

#include <algorithm>

#include "labels/names.h"

namespace cronlatch {
namespace {

// -c, -ec, -lc: the next word is a script.
bool takes_script(const std::string& word) {
  return word.size() >= 2 && word.front() == '-' && word.back() == 'c' &&
         std::all_of(word.begin() + 1, word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

std::optional<GateSpan> gate_at(const std::vector<std::string>& argv, std::size_t index) {
  // --isolated distinguishes it from a `cronlatch run` that the user wrote.
  if (index + 3 >= argv.size() || argv[index] != kGateBinary || argv[index + 1] != "run" ||
      argv[index + 2] != "--isolated")
    return std::nullopt;
  const auto end =
      std::find(argv.begin() + static_cast<std::ptrdiff_t>(index) + 3, argv.end(), "--");
  if (end == argv.end()) return std::nullopt;
  return GateSpan{index, static_cast<std::size_t>(end - argv.begin()) + 1};
}

std::optional<GateSpan> find_gate(const std::vector<std::string>& argv) {
  const auto binary = std::find(argv.begin(), argv.end(), kGateBinary);
  if (std::any_of(argv.begin(), binary, takes_script)) return std::nullopt;
  return gate_at(argv, static_cast<std::size_t>(binary - argv.begin()));
}

}  // namespace cronlatch
