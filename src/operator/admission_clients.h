// SPDX-License-Identifier: Apache-2.0
// AdmissionClients: logs each address from which admission reviews arrive, once. These are the
// addresses that networkPolicy.apiServerCIDRs must contain: the address of an API server as the
// pods see it depends on the network, and no object of the API contains it.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>

#include "base/log.h"

namespace cronlatch::op {

// Thread rule: any method from any thread.
class AdmissionClients {
 public:
  // `log` must outlive the object.
  explicit AdmissionClients(const Log& log) : log_(log) {}
  void add(const std::string& address);

 private:
  static constexpr std::size_t kMax = 64;  // further addresses are not logged

  const Log& log_;
  std::mutex mutex_;
  std::set<std::string> addresses_;
};

}  // namespace cronlatch::op
