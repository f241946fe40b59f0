// SPDX-License-Identifier: Apache-2.0
// Wire: one HTTPS exchange with the API server, held to an absolute deadline, with the token as it
// is now. It knows bytes; what they mean is rest_api.cc's business. Nothing of cpprestsdk shows.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>

#include "kube/access.h"
#include "kube/api.h"

namespace cronlatch::kube {

// Any thread may call, several at once. Nothing throws.
class Wire {
 public:
  virtual ~Wire() = default;

  // Watches keep their connections for minutes; calls must never wait behind them.
  enum class Purpose { call, watch };
  // Takes bytes on the calling thread; false: enough. No bytes: an attempt begins, forget the last.
  using Take = std::function<bool(int status, std::string_view bytes)>;
  // The status of a complete answer, of one that `take` had enough of, and of one that fell silent
  // for longer than request.silence. A refused token is read again, and the request sent again.
  virtual Result<int> exchange(const Request& request, Purpose purpose,
                               std::chrono::steady_clock::time_point deadline,
                               const std::stop_token& stop, const Take& take) = 0;
};

// Says what cannot work with this access; connects to nothing yet.
Result<std::unique_ptr<Wire>> open_wire(const ClusterAccess& access);

}  // namespace cronlatch::kube
