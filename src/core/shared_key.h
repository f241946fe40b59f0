// SPDX-License-Identifier: Apache-2.0
// The options key-format and foreign-key: a lock whose grants are also visible in a key of another
// program in Redis. The name of such a lock is `_cronlock/` or `_redlock/` and the key
// (core/escaped_name.h), one to one, so that the store finds the key by the name alone. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cronlatch {

enum class KeyFormat {
  native,    // no key of another program
  cronlock,  // the time at which the key is free, in seconds since 1970
  golock,    // the same: a key of cronlock and one of golock are one lock
  redlock,   // a value that only its holder knows
};

struct SharedKey {
  KeyFormat format = KeyFormat::cronlock;  // cronlock or redlock
  std::string key;
  bool operator==(const SharedKey&) const = default;
};

// Code::config unless the key is 1 to 150 printable ASCII characters without blanks and braces, and
// its lock name is not too long. A key with a brace would select another slot of a Cluster than the
// keys of its lock.
Status check_foreign_key(std::string_view key);

// REQUIRES: another format than native; a key that check_foreign_key accepts.
std::string lock_of_shared_key(KeyFormat format, std::string_view key);

// The key in a lock name; no value for the name of any other lock.
std::optional<SharedKey> shared_key_of_lock(std::string_view lock);

// "cronlock", "redlock": the last part of the record's key (store/redis).
std::string_view name_of(KeyFormat format);

// The holder of a busy lock whose key belongs to a run of another program.
std::string foreign_holder(KeyFormat format);

}  // namespace cronlatch
