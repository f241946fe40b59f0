// SPDX-License-Identifier: Apache-2.0
// Reads from a registry which command an image runs: its manifest, then the config of each
// requested platform.
#pragma once

#include <functional>
#include <vector>

#include "registry/logins.h"
#include "registry/lookup.h"
#include "registry/skopeo.h"

namespace cronlatch::registry {

// The logins for one request, the most specific first.
using LoginSource = std::function<std::vector<Login>(const LookupRequest&)>;

// The query tries each login in order, then none. It caches the commands of up to `cache_size`
// configs by digest. `skopeo` outlives it.
RegistryQuery make_registry_query(const Skopeo& skopeo, LoginSource logins, std::size_t cache_size);

}  // namespace cronlatch::registry
