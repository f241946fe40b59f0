// SPDX-License-Identifier: Apache-2.0
// An outcome as one English sentence. The operator's Events and `kubectl cronlatch why` take it
// from here, so that both describe the same run alike. Pure.
#pragma once

#include <string>

#include "base/time.h"
#include "core/outcome.h"

namespace cronlatch {

// What happened and why, without names or times: "skipped because another run holds the lock". The
// reason is the meaning in reason_table().
std::string outcome_summary(Kind kind, Reason reason);

// What a reader of the outcome's JSON has: texts as they are there, empty where they are unknown.
struct OutcomeFacts {
  Kind kind = Kind::usage;
  Reason reason = Reason::none;
  std::string lock, holder, fence;
  std::string since, until;  // skipped, busy: the holder's lease, RFC 3339
  Millis waited{}, held{};
  int exit_code = 0;
};

// The summary with the lock, its holder, the times and the exit code.
std::string outcome_sentence(const OutcomeFacts& facts);

}  // namespace cronlatch
