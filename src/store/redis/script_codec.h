// SPDX-License-Identifier: Apache-2.0
// From requests to EVAL or EVALSHA, and from replies to values: names of keys, order of arguments,
// the reply format of the scripts. No I/O. Replies of a server are untrusted text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/lock_stats.h"
#include "core/store.h"
#include "store/rules.h"

namespace cronlatch::redis {

// ---- keys (scripts/common_read.lua lists all of them) ----
// <prefix>{<lock>}; of a lock that shares a key (core/shared_key.h): <prefix>{<key>}:<format>, so
// that all its keys are in the hash slot of that key.
std::string record_key(std::string_view prefix, std::string_view lock);
// The lock of any of its keys below the prefix; "" for another key.
std::string lock_of_key(std::string_view key, std::string_view prefix);
std::string stats_key(std::string_view prefix, std::string_view lock);  // <prefix>{<lock>}:stats
std::string slots_key(std::string_view prefix, std::string_view lock);  // <prefix>{<lock>}:slots
std::string index_key(std::string_view prefix);  // <prefix>index: names of locks
std::string epoch_key(std::string_view prefix);  // <prefix>epoch: replication history (strict)
// <prefix>{<lock>}:wake:<owner>, a list that wakes the run that waits
std::string wake_key(std::string_view prefix, std::string_view lock, std::string_view owner);

// After this time without an entry the state of a lock has expired: a lock is entered on each day
// on which it is granted, renewed or counted as busy, and its state is kept for 90 days after that.
inline constexpr Micros kIndexMemory = std::chrono::hours(24 * 91);

// EVAL with the script's text, which always works, or EVALSHA with its hash, which saves the server
// the hashing and can return NOSCRIPT.
enum class ScriptBy { text, hash };
// What a request adds with the option strict.
struct StrictRequest {
  Micros quarantine{};
  std::optional<std::size_t> most_replicas;  // refused when more are connected; none: no limit
};
// The whole command. `not_after` is the request's give_up by the server's clock.
std::vector<std::string> encode(const Request& request, std::string_view prefix,
                                ServerTime not_after, ScriptBy by = ScriptBy::text,
                                const std::optional<StrictRequest>& strict = std::nullopt);
std::vector<std::string> encode_epoch(std::string_view prefix);
std::vector<std::string> encode_revoke(const std::string& lock, std::string_view prefix,
                                       ServerTime not_after);
// Best effort, after a reply with `index`: enters the lock, and removes old names.
std::vector<std::string> encode_index(const std::string& lock, std::string_view prefix,
                                      ServerTime now);

// Best effort, after a reply with `wake`.
std::vector<std::vector<std::string>> encode_wake(const std::string& lock, const std::string& owner,
                                                  std::string_view prefix);
// Returns when the lock is reserved for the owner, at the latest after `most`.
std::vector<std::string> encode_listen(const std::string& lock, const std::string& owner,
                                       std::string_view prefix, Micros most);

struct DecodedReply {
  Reply reply;         // without `sent_at`, which the store sets
  ServerTime now{};    // the server's clock; zero when the reply was malformed
  bool index = false;  // the lock should be entered in the index
};
// The reply to `request`; a reply that its script cannot return becomes Unavailable.
DecodedReply decode(const Request& request, const std::vector<std::string>& reply);
Result<Revoked> decode_revoke(const std::vector<std::string>& reply);

// The runs that wait at the server's time `now`, at most 1,000.
std::vector<std::string> encode_waiters(const std::string& lock, std::string_view prefix,
                                        ServerTime now);

// From the results of HGETALL on the record, the stats and the other slots; all are empty for an
// unknown lock. Code::config when another program wrote them. `slot_list` is read only if the
// record has several slots.
using Fields = std::map<std::string, std::string>;
Result<LockView> decode_view(std::string lock, const Fields& record, const Fields& stats,
                             ServerTime now, const Fields& slot_list = {});
std::optional<rules::HoldState> hold_state_named(std::string_view name);
// One value of the key `slots` (scripts/common_slots.lua); no value when it is damaged.
std::optional<rules::Slot> unpack_slot(std::string_view packed);

}  // namespace cronlatch::redis
