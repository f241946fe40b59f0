// SPDX-License-Identifier: Apache-2.0
#include "store/verb_text.h"

#include <algorithm>

namespace cronlatch {
namespace {

constexpr Micros kLongest{1'000'000'000'000'000};

}  // namespace

std::string micros_text(Micros d) {
  return std::to_string(std::clamp(d, Micros{0}, kLongest).count());
}

std::string millis_text(Millis d) {
  return std::to_string(std::clamp<Micros>(d, Micros{0}, kLongest).count() / 1000);
}

std::string_view name_of(IfBusy if_busy) {
  switch (if_busy) {
    case IfBusy::wait:
      return "wait";
    case IfBusy::skip:
      return "skip";
    case IfBusy::fail:
      return "fail";
    case IfBusy::probe:
      return "probe";
    case IfBusy::timed_out:
      return "timed_out";
  }
  return "wait";
}

std::string_view name_of(RunVerdict verdict) {
  switch (verdict) {
    case RunVerdict::succeeded:
      return "succeeded";
    case RunVerdict::failed:
      return "failed";
    case RunVerdict::timed_out:
      return "timed_out";
    case RunVerdict::lost:
      return "lost";
    case RunVerdict::cannot_start:
      return "cannot_start";
    case RunVerdict::given_back:
      return "given_back";
    case RunVerdict::ungated:
      return "ungated";
  }
  return "given_back";
}

}  // namespace cronlatch
