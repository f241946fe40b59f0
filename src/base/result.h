// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value or an Error that a caller can meet. Errors are values: nothing of ours throws.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace cronlatch {

// What kind of trouble it is; the exit table (core/outcome.h) maps each to one code.
enum class Code {
  usage,         // the command line, an environment variable or a key is wrong
  config,        // a file, a name or a combination of timings cannot be used
  unreachable,   // the store did not answer, or cannot serve now; trying again may help
  auth,          // the store refused user or password
  acl,           // the store knows us but forbids a command or a key
  tls,           // the certificate, the name or the handshake was refused
  exec_denied,   // the command exists but cannot be executed
  exec_missing,  // the command is not found
  system,        // the operating system refused
  bug,           // cannot happen; a defect of cronlatch
};

// `message` says what is wrong and where (lower case, no full stop); `hint` says how to fix it.
struct Error {
  Code code;
  std::string message;
  std::string hint{};
  bool operator==(const Error&) const = default;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : held_(std::move(error)) {}  // NOLINT: implicit on purpose
  bool ok() const { return held_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(held_); }
  const T& value() const& { return std::get<0>(held_); }
  T&& value() && { return std::get<0>(std::move(held_)); }
  const Error& error() const { return std::get<1>(held_); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::get<0>(std::move(held_)); }

 private:
  std::variant<T, Error> held_;
};

// A Result with nothing to carry.
struct Done {
  bool operator==(const Done&) const = default;
};
using Status = Result<Done>;

}  // namespace cronlatch
