// SPDX-License-Identifier: Apache-2.0
// SCRAM-SHA-256 (RFC 5802, RFC 7677), the client's side, without channel binding: the password is
// never sent, and the server proves that it has the verifier. A password is used as it is: without
// SASLprep, which changes only characters outside of ASCII. No I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace cronlatch::postgres {

inline constexpr std::string_view kScramMechanism = "SCRAM-SHA-256";
// A server can request any number of iterations; this many take less than a second.
inline constexpr int kMaxScramIterations = 1'000'000;

class Scram {
 public:
  // `nonce`: printable ASCII without a comma, different for each login.
  Scram(const Secret& password, std::string nonce);
  std::string first() const;
  // The answer to the server's first message; no value when the message is invalid.
  std::optional<std::string> answer(std::string_view server_first);
  // True when the server's final message proves that it has the verifier of the password.
  bool is_proved(std::string_view server_final) const;

 private:
  const Secret& password_;
  std::string nonce_;
  std::string server_signature_;  // base64; empty before answer()
};

// 144 random bits as text.
Result<std::string> random_nonce();

}  // namespace cronlatch::postgres
