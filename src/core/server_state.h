// SPDX-License-Identifier: Apache-2.0
// ServerStates: what each server of a store answered last, for a store of several independent
// servers (a quorum). Other stores do not implement it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace cronlatch {

struct ServerState {
  std::string endpoint;          // host:port
  std::optional<Error> error{};  // of its last request; none: it was executed
  Micros took{};                 // of its last request, with a connection if one was needed
  bool up() const { return !error; }
};

class ServerStates {
 public:
  virtual ~ServerStates() = default;
  // In the order of the URL, as of the last list(), show() or revoke(); empty before the first one.
  // Thread rule: as LockStats.
  virtual std::vector<ServerState> server_states() const = 0;
};

}  // namespace cronlatch
