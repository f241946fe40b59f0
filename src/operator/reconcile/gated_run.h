// SPDX-License-Identifier: Apache-2.0
// What a finished pod says about its gated run: the wrapper left one line of JSON (core/outcome.h)
// as the container's termination message. A tenant can write anything there, so nothing in it is
// believed but words of closed lists, and what is shown is cut and printable.
#pragma once

#include <optional>
#include <string>

#include "core/outcome.h"
#include "kube/json.h"
#include "kube/object_ref.h"

namespace cronlatch::op {

struct GatedRun {
  kube::ObjectRef pod;
  kube::ObjectRef job;  // name empty: the pod has no Job
  std::string container;
  WallTime finished{};
  // Nothing: the container ended without a word of the wrapper (killed, out of memory).
  std::optional<Kind> kind;
  std::string ended;  // Kubernetes' word for it: Completed, Error, OOMKilled, StartError
  Reason reason = Reason::none;
  std::string lock, holder, fence;
  std::string since, until;  // skipped: the holder's lease, RFC 3339; may be empty
  bool stole = false;        // ran: after a lease that had expired unreleased
  bool not_marked = false;   // its run identity is done, and not recorded as done
  int exit_code = 0;
  Millis waited{}, held{};
};

// Nothing while the gated container still runs, or may be started again, or was never there.
std::optional<GatedRun> read_gated_run(const kube::Json& pod);

}  // namespace cronlatch::op
