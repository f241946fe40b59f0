// SPDX-License-Identifier: Apache-2.0
// Fault: which requests of a client, or replies to them, a FaultProxy spoils, and how.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace cronlatch::testing {

enum class FaultKind {
  reply_lost,        // it and all later replies are dropped; the connection stays open
  reply_closed,      // the connection is closed instead
  reply_cut,         // its first half arrives, then the connection is closed
  reply_stalled,     // its first half arrives, then nothing; the connection stays open
  reply_duplicated,  // it arrives twice, at once
  reply_repeated,    // it arrives a second time after the next request, before the reply to that
  reply_late,        // it arrives after `delay`, and later replies follow it
  request_lost,      // it is not sent to the server; the connection stays open
  request_late,      // it is sent to the server after `delay`, also when the client has closed
};
inline constexpr FaultKind kFaultKinds[] = {
    FaultKind::reply_lost,    FaultKind::reply_closed,     FaultKind::reply_cut,
    FaultKind::reply_stalled, FaultKind::reply_duplicated, FaultKind::reply_repeated,
    FaultKind::reply_late,    FaultKind::request_lost,     FaultKind::request_late};
const char* name_of(FaultKind kind);

struct Fault {
  using Request = std::vector<std::string>;
  FaultKind kind = FaultKind::reply_lost;
  std::function<bool(const Request&)> concerns;  // which requests are counted
  std::set<int> numbers{1};                      // which of these get the fault; the first is 1
  std::chrono::milliseconds delay{0};
  // The connection is closed after each reply to such a request, as a server with a short idle
  // timeout does; none: never.
  std::function<bool(const Request&)> closes_after{};
};

// Counts the requests that a fault concerns, over all connections.
struct FaultCounter {
  int seen = 0;
  int struck = 0;
  bool strikes(const Fault& fault, const Fault::Request& request);
};

}  // namespace cronlatch::testing
