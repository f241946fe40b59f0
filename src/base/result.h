// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value or an Error. Errors are values: no function of cronlatch throws.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace cronlatch {

// The kind of an error; core/outcome.h maps each kind to one exit code.
enum class Code {
  usage,         // the command line, an environment variable or a key is not valid
  config,        // a file, a name or a combination of timings is not valid
  unreachable,   // the store did not answer, or returned a temporary error; a retry may succeed
  auth,          // the store refused the user or the password
  acl,           // the store does not permit this user a command or a key
  tls,           // the certificate, the name or the handshake was refused
  exec_denied,   // the command exists but cannot be executed
  exec_missing,  // the command is not found
  system,        // the operating system refused
  bug,           // cannot happen; a defect of cronlatch
};

// `message`: what is wrong and where (lower case, no full stop). `hint`: how to fix it.
struct Error {
  Code code;
  std::string message;
  std::string hint{};
  bool operator==(const Error&) const = default;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : result_(std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : result_(std::move(error)) {}  // NOLINT: implicit on purpose
  bool ok() const { return result_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(result_); }
  const T& value() const& { return std::get<0>(result_); }
  T&& value() && { return std::get<0>(std::move(result_)); }
  const Error& error() const { return std::get<1>(result_); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::get<0>(std::move(result_)); }

 private:
  std::variant<T, Error> result_;
};

// The value of a Result that has none.
struct Done {
  bool operator==(const Done&) const = default;
};
using Status = Result<Done>;

}  // namespace cronlatch
