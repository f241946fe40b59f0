// SPDX-License-Identifier: Apache-2.0
#include "operator/admission_clients.h"

namespace cronlatch::op {

void AdmissionClients::add(const std::string& address) {
  {
    const std::lock_guard lock(mutex_);
    if (address.empty() || addresses_.size() >= kMax || !addresses_.insert(address).second) return;
  }
  log_({Level::info,
        "admission_client",
        "admission reviews arrive from " + address,
        {{"address", address}}});
}

}  // namespace cronlatch::op
