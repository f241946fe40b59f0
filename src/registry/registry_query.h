// SPDX-License-Identifier: Apache-2.0
// Reads from a registry which command an image runs: HEAD of its manifest first. The manifest and
// the config of each requested platform are read only if the answer is not known for its digest.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/logins.h"
#include "registry/lookup.h"
#include "registry/registry_client.h"
#include "registry/registry_pace.h"

namespace cronlatch::registry {

// The logins for one request, the most specific first.
using LoginSource = std::function<std::vector<RegistryLogin>(const LookupRequest&)>;

// Called after each request to a registry. `kind`: head, manifest (one GET), config (one GET of a
// manifest and one of a blob). `result`: ok, refused, busy, error.
using RequestReport = std::function<void(const std::string& registry, std::string_view kind,
                                         std::string_view result)>;

// References outlive the query.
struct RegistryQueryDependencies {
  const RegistryClient& client;
  LoginSource logins;
  RegistryPace& pace;
  RequestReport on_request;
  const Clock& clock;
};

// The query tries each login in order, then none. It caches up to `cache_size` answers by digest,
// and as many commands of configs.
RegistryQuery make_registry_query(RegistryQueryDependencies dependencies, std::size_t cache_size);

}  // namespace cronlatch::registry
