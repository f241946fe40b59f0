// SPDX-License-Identifier: Apache-2.0
#include "support/fault.h"

namespace cronlatch::testing {

const char* name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::reply_lost:
      return "reply_lost";
    case FaultKind::reply_closed:
      return "reply_closed";
    case FaultKind::reply_cut:
      return "reply_cut";
    case FaultKind::reply_stalled:
      return "reply_stalled";
    case FaultKind::reply_duplicated:
      return "reply_duplicated";
    case FaultKind::reply_repeated:
      return "reply_repeated";
    case FaultKind::reply_late:
      return "reply_late";
    case FaultKind::request_lost:
      return "request_lost";
    case FaultKind::request_late:
      return "request_late";
  }
  return "";
}

bool FaultCounter::strikes(const Fault& fault, const Fault::Request& request) {
  if (!fault.concerns(request)) return false;
  const bool strike = fault.numbers.contains(++seen);
  if (strike) ++struck;
  return strike;
}

}  // namespace cronlatch::testing
