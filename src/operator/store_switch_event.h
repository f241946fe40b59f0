// SPDX-License-Identifier: Apache-2.0
// StoreSwitchEvent: an Event on the operator's pod when the store has another server, for example
// another master after a failover.
#pragma once

#include <functional>
#include <optional>

#include "core/server_switch.h"
#include "kube/events.h"
#include "operator/reconcile/apply_result.h"

namespace cronlatch::op {

// One thread.
class StoreSwitchEvent {
 public:
  // Every replica sees a switch; only the leader records it.
  struct Dependencies {
    kube::ObjectRef pod;
    std::function<bool()> leading;
    std::function<ApplyResult(const kube::Event&)> record;
  };
  explicit StoreSwitchEvent(Dependencies dependencies) : deps_(std::move(dependencies)) {}

  // After each read of the store. An Event that could not be recorded is retried at the next call,
  // until another switch replaces it.
  void update(const std::optional<ServerSwitch>& switched);

 private:
  const Dependencies deps_;
  std::optional<kube::Event> pending_;
};

}  // namespace cronlatch::op
