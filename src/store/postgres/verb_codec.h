// SPDX-License-Identifier: Apache-2.0
// From requests to calls of the functions in schema/, and from their rows to values. No I/O.
// Rows of a server are untrusted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/lock_stats.h"
#include "core/store.h"
#include "store/postgres/message.h"

namespace cronlatch::postgres {

// The first version of the schema with several slots for each lock. With an earlier one, each lock
// has one slot.
inline constexpr int kSlotsSchema = 4;

// One transaction in one write: three answers (begin, function, commit). `limit` bounds the waits
// and the work of each statement on the server. `not_after` is the request's give_up by the
// server's clock. `schema`: the version that the server has. `standbys`: strict, the transaction
// fails unless at least that many synchronous standbys confirm a grant or a renewal.
inline constexpr std::size_t kVerbAnswers = 3;
std::string encode(const Request& request, std::string_view prefix, ServerTime not_after,
                   Millis limit, int schema, std::optional<std::size_t> standbys = std::nullopt);
std::string encode_revoke(std::string_view lock, std::string_view prefix, ServerTime not_after,
                          Millis limit);

// The channel on which the function that reserves the lock for this owner notifies it. The owner
// authorizes renew and release: it is not readable in it.
std::string wake_channel(std::string_view owner);

struct DecodedRow {
  Reply reply;       // without `sent_at`, which the store sets
  ServerTime now{};  // the server's clock; zero when the row was invalid
};
// The reply to `request`; a row that its function cannot return becomes Unavailable.
DecodedRow decode(const Request& request, const std::vector<Row>& rows);
Result<Revoked> decode_revoke(const std::vector<Row>& rows);

// Reads one lock (`lock`), or with an empty `lock` the `most` locks that were granted last: five
// answers (begin, locks, slots, counters, commit). `limit` and `schema`: as above. A lock with an
// invalid value is damaged; the others are not affected.
inline constexpr std::size_t kViewAnswers = 5;
std::string encode_view(std::string_view prefix, std::string_view lock, std::size_t most,
                        Millis limit, int schema);
// `slot_list`: slots 2 and higher of locks with several slots.
Result<std::vector<LockView>> decode_views(const std::vector<Row>& locks,
                                           const std::vector<Row>& slot_list,
                                           const std::vector<Row>& counters);

}  // namespace cronlatch::postgres
