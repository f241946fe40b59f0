// SPDX-License-Identifier: Apache-2.0
// The passwords of the store server's users. Each is derived from a random seed and the user's
// name, so that one Secret contains the state of all passwords, and the operator reads no Secret of
// another namespace. Pure, except for create_seed().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"

namespace cronlatch::op {

struct PasswordSeeds {
  Secret current;         // empty: none was created
  Secret previous;        // accepted beside `current` for kPasswordOverlap; empty: none
  WallTime created_at{};  // of `current`
  bool operator==(const PasswordSeeds&) const = default;
};

inline constexpr Seconds kPasswordLife{90LL * 86'400};
// A kubelet updates a mounted Secret within minutes. A run reads it for each new connection.
inline constexpr Seconds kPasswordOverlap{86'400};

// 256 random bits as text; an error if the system's generator fails.
Result<Secret> create_seed();
// The seeds with the step that is due: a first seed, a new seed beside the previous one, or the end
// of the previous one. An equal value: no step is due. `fresh` creates a seed.
Result<PasswordSeeds> plan_seeds(const PasswordSeeds& seeds, WallTime now,
                                 Result<Secret> (*fresh)() = create_seed);

// Printable, without blanks. Different users have independent passwords.
Secret derive_password(const Secret& seed, const std::string& user);
// Passwords of the user that the server accepts, the current one first.
std::vector<Secret> accepted_passwords(const PasswordSeeds& seeds, const std::string& user);

}  // namespace cronlatch::op
