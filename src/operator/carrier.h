// SPDX-License-Identifier: Apache-2.0
// Carrier: carries out decisions in the API, as long as we lead: Events, and a CronJob's
// annotations. What is done twice is one thing there. It counts nothing. One thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/log.h"
#include "kube/api.h"
#include "kube/election.h"
#include "operator/decide.h"

namespace cronlatch::op {

// known: somebody has told the Event before us. again: later, and from the start.
enum class Carried { done, known, again };

class Carrier {
 public:
  struct Parts {
    kube::Api& api;
    const Clock& clock;
    const Log& log;
    kube::Election& election;
    std::string instance;  // our pod's name
  };
  explicit Carrier(Parts parts) : parts_(std::move(parts)) {}

  // In order, up to the first that has to be tried again.
  Carried carry_out(const std::vector<Decision>& decisions) const;

 private:
  Carried send(const Event& event) const;
  Carried send(const PatchCronJob& patch) const;

  const Parts parts_;
};

}  // namespace cronlatch::op
