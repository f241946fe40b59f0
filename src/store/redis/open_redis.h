// SPDX-License-Identifier: Apache-2.0
// From the settings of a store to a RedisStore.
#pragma once

#include <memory>

#include "store/open.h"

namespace cronlatch::redis {

Result<std::unique_ptr<Backend>> open_redis(const StoreSpec& spec, const StoreUrl& url);
Result<std::unique_ptr<Backend>> open_sentinel(const StoreSpec& spec, const StoreUrl& url);
// Records the first epoch of the prefix (option strict). Blocks up to `give_up`. Returns what was
// done. For one server, and for Sentinels.
Result<std::string> create_epoch(const StoreSpec& spec, const StoreUrl& url, TimePoint give_up);
Result<std::unique_ptr<Backend>> open_cluster(const StoreSpec& spec, const StoreUrl& url);

}  // namespace cronlatch::redis
