// SPDX-License-Identifier: Apache-2.0
// Requests to EVAL or EVALSHA and back: names of keys, order of arguments, the fixed reply
// schema of the scripts. Knows nothing of connections, and takes what a server sends for untrusted
// text.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/lock_stats.h"
#include "core/store.h"

namespace cronlatch::redis {

// ---- keys (docs/contract.md, section 5) ----
std::string record_key(std::string_view prefix, std::string_view lock);  // <prefix>{<lock>}
std::string stats_key(std::string_view prefix, std::string_view lock);   // <prefix>{<lock>}:stats
std::string index_key(std::string_view prefix);  // <prefix>index: names of locks

// A name that was not entered for so long is of a lock whose state has expired: a lock is entered
// each day on which it is granted, renewed or counted as busy, and is kept for 90 days after that.
inline constexpr Micros kIndexMemory = std::chrono::hours(24 * 91);

// EVAL with the script's text, which every server understands, or EVALSHA with its hash, which
// spares the server the hashing of the text and may be answered by NOSCRIPT.
enum class ScriptBy { text, hash };
// The whole command. `not_after` is the request's give_up by the server's clock.
std::vector<std::string> encode(const Request& request, std::string_view prefix,
                                ServerTime not_after, ScriptBy by = ScriptBy::text);
std::vector<std::string> encode_revoke(const std::string& lock, std::string_view prefix,
                                       ServerTime not_after);
// Best effort, after a reply with `index`: enters the lock, and drops old names.
std::vector<std::string> encode_index(const std::string& lock, std::string_view prefix,
                                      ServerTime now);

struct Decoded {
  Reply reply;         // `asked` is left for the store to fill in
  ServerTime now{};    // the server's clock; zero when the reply was malformed
  bool index = false;  // the lock should be entered in the index
};
// The answer to `request`; one that its script cannot give becomes Down.
Decoded decode(const Request& request, const std::vector<std::string>& reply);
Result<Revoked> decode_revoke(const std::vector<std::string>& reply);

// What HGETALL of the record and of the stats say; both empty for an unknown lock. Code::config
// when they are not ours.
using Fields = std::map<std::string, std::string>;
Result<LockView> decode_view(std::string lock, const Fields& record, const Fields& stats,
                             ServerTime now);

}  // namespace cronlatch::redis
