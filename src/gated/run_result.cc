// SPDX-License-Identifier: Apache-2.0
#include "gated/run_result.h"

#include <algorithm>

#include "base/text.h"
#include "kube/json.h"

namespace cronlatch {
namespace {

using kube::Json;

constexpr std::size_t kMaxShown = 300;
constexpr std::size_t kMaxMessage = 4'096;  // the kubelet truncates a termination message to this
constexpr int kVersion = 1;
constexpr std::int64_t kMaxMillis = std::int64_t{100} * 365 * 24 * 3'600 * 1'000;  // 100 years

std::string shown(const Json& message, std::string_view key) {
  return printable(kube::string_at(message, {key}), kMaxShown);
}

Millis millis_at(const Json& message, std::string_view key) {
  return Millis(
      std::clamp<std::int64_t>(kube::number_at(message, {key}).value_or(0), 0, kMaxMillis));
}

std::optional<Kind> kind_at(const Json& message) {
  const std::string name = kube::string_at(message, {"outcome"});
  for (const KindRow& row : kind_table())
    if (row.name == name) return row.kind;
  return std::nullopt;
}

Reason reason_at(const Json& message) {
  const std::string name = kube::string_at(message, {"reason"});
  for (const ReasonRow& row : reason_table())
    if (row.name == name) return row.reason;
  return Reason::none;
}

}  // namespace

RunResult read_run_result(std::string_view termination_message) {
  const auto message = kube::parse_json(termination_message, {.bytes = kMaxMessage, .depth = 4});
  if (!message || kube::number_at(*message, {"v"}) != kVersion) return {};
  return {.kind = kind_at(*message),
          .reason = reason_at(*message),
          .lock = shown(*message, "lock"),
          .holder = shown(*message, "holder"),
          .fence = shown(*message, "fence"),
          .since = shown(*message, "since"),
          .until = shown(*message, "until"),
          .stole = kube::is_true(*message, {"stolen"}),
          .not_marked = kube::is_true(*message, {"not_marked"}),
          .waited = millis_at(*message, "waited_ms"),
          .held = millis_at(*message, "held_ms")};
}

OutcomeFacts facts_of(const RunResult& result, Kind kind, int exit_code) {
  return {.kind = kind,
          .reason = result.reason,
          .lock = result.lock,
          .holder = result.holder,
          .fence = result.fence,
          .since = result.since,
          .until = result.until,
          .waited = result.waited,
          .held = result.held,
          .exit_code = exit_code};
}

}  // namespace cronlatch
