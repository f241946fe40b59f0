// SPDX-License-Identifier: Apache-2.0
// The gated run of a finished pod: the wrapper writes one line of JSON (core/outcome.h) as the
// termination message. A tenant can write any message: only values of closed lists are used, and
// text is truncated and made printable.
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
  // Nothing: the container was killed before it reported a result.
  std::optional<Kind> kind;
  std::string ended;  // the reason of Kubernetes: Completed, Error, OOMKilled, StartError
  Reason reason = Reason::none;
  std::string lock, holder, fence;
  std::string since, until;  // skipped: the lease of the holder, RFC 3339; may be empty
  bool stole = false;        // ran: after an expired lease of another run
  bool not_marked = false;   // the once-per identity is done, and the store has no done mark
  int exit_code = 0;
  Millis waited{}, held{};
};

// Nothing while the gated container runs or can be restarted, and for a pod without one.
std::optional<GatedRun> read_gated_run(const kube::Json& pod);

}  // namespace cronlatch::op
