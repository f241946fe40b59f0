// SPDX-License-Identifier: Apache-2.0
// Seen: how often each case occurred. Schedules prove nothing about a case that does not occur.
#pragma once

#include <array>
#include <cstdint>

namespace cronlatch::model {

enum class Case {
  granted,
  two_holders,
  busy,
  stolen,
  late,
  unavailable,
  expiring,
  crash,
  outlived,
  stop,
  long_stop,
  guardian_kill,
  revoked,
  restored,
  restored_older,
  waited,
  canceled,
  lost_grant,
  lost_release,
  lost_renewal,
  lost_mark,
  lost_all,
  step_back,
  leftovers,
  group_waits,
  done_busy,
  cooling_busy,
  queued_busy,
  woken,
  marked,
  not_marked,
  ungated,
  refused_login,
  refused_certificate,
  duplicate_reply,
  exit_69,
  exit_75,
  exit_77,
  exit_79,
  exit_124,
  exit_126,
  exit_143,
  count,
};

inline constexpr std::array<const char*, static_cast<std::size_t>(Case::count)> kCaseNames = {
    "granted",
    "granted beside another holder",
    "busy",
    "stolen",
    "late",
    "unavailable",
    "expiring",
    "crash",
    "outlived",
    "stop",
    "long stop",
    "guardian kill",
    "revoked",
    "restored",
    "restored over an older record",
    "waited",
    "canceled",
    "lost grant",
    "lost release",
    "lost renewal",
    "lost mark",
    "lost all data",
    "step back",
    "leftovers",
    "group waits",
    "busy: done",
    "busy: cooling",
    "busy: queued",
    "woken",
    "marked",
    "not marked",
    "ungated",
    "refused login",
    "refused certificate",
    "duplicate reply",
    "exit 69",
    "exit 75",
    "exit 77",
    "exit 79",
    "exit 124",
    "exit 126",
    "exit 143"};

struct Seen {
  std::array<std::uint64_t, static_cast<std::size_t>(Case::count)> counts{};
  void add(Case c) { ++counts[static_cast<std::size_t>(c)]; }
  void add(const Seen& other) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  }
};

}  // namespace cronlatch::model
