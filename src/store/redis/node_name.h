// SPDX-License-Identifier: Apache-2.0
// Names of servers in the answers of Sentinels and Cluster nodes. The text is untrusted. No I/O.
#pragma once

#include <optional>
#include <string_view>

#include "core/store_url.h"
#include "store/redis/resp.h"

namespace cronlatch::redis {

// From a host or an address without brackets, and a port of 1 to 65535.
std::optional<StoreHost> parse_node(std::string_view host, std::string_view port);

// The answer of SENTINEL get-master-addr-by-name, when it names a master.
std::optional<StoreHost> parse_master(const Resp& answer);

}  // namespace cronlatch::redis
