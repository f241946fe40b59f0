// SPDX-License-Identifier: Apache-2.0
// LastError: the state of work that is repeated, so that an error is logged when it begins, changes
// or ends, and not at every attempt. Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cronlatch {

class LastError {
 public:
  // After a failure. True if the error is new: nothing failed before, or the message was another.
  bool set(std::string_view message) {
    if (message_ == message) return false;
    message_ = message;
    return true;
  }
  // After a success. True if an error ended, and at the first call.
  bool clear() { return set(""); }

 private:
  std::optional<std::string> message_;  // "": the last attempt succeeded; nothing: no attempt yet
};

}  // namespace cronlatch
