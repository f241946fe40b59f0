// SPDX-License-Identifier: Apache-2.0
// RunResult: the outcome that the wrapper wrote as the termination message of its container
// (core/outcome.h). A tenant can write any message: only values of closed lists are accepted, and
// text is truncated and made printable. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "core/outcome.h"
#include "core/outcome_text.h"

namespace cronlatch {

struct RunResult {
  // Nothing: the message contains no outcome, because the container was killed before it reported
  // one, or because another program wrote the message.
  std::optional<Kind> kind;
  Reason reason = Reason::none;
  std::string lock, holder, fence;  // of at most 300 bytes each, and a mark where text was cut
  std::string since, until;         // skipped, busy: the holder's lease, RFC 3339; may be empty
  bool stole = false;               // ran: after an expired lease of another run
  bool not_marked = false;          // the once-per identity is done, and the store has no done mark
  Millis waited{}, held{};          // 0 to 100 years: arithmetic with them cannot overflow
};

// Accepts any bytes. A message that is longer than the kubelet permits, is damaged, or has another
// version than 1 gives an empty result.
RunResult read_run_result(std::string_view termination_message);

// The facts of outcome_sentence(). `kind`: that of the result. `exit_code`: of the container.
OutcomeFacts facts_of(const RunResult& result, Kind kind, int exit_code);

}  // namespace cronlatch
