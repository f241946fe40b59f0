// SPDX-License-Identifier: Apache-2.0
// RedisVerb: the purpose of a request of the product, from its words. Of the product it uses only
// the texts and hashes of the scripts.
#pragma once

#include <string>
#include <vector>

namespace cronlatch::testing {

// read: of records, counters or names, outside of scripts.
enum class RedisVerb { hello, time, acquire, renew, release, index, revoke, read, other };
RedisVerb verb_of(const std::vector<std::string>& request);
const char* name_of(RedisVerb verb);

}  // namespace cronlatch::testing
