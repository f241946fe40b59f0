// SPDX-License-Identifier: Apache-2.0
// The opener of each scheme. A new store has a row here and one in core/store_schemes.cc.
#include "store/open.h"

#include <algorithm>
#include <array>

#include "store/file/file_store.h"
#include "store/postgres/open_postgres.h"
#include "store/quorum/open_quorum.h"
#include "store/redis/open_redis.h"

namespace cronlatch {
namespace {

Result<std::unique_ptr<Backend>> open_file(const StoreSpec&, const StoreUrl& url) {
  return open_file_store(url.directory);
}

constexpr std::array<StoreOpener, 8> kOpeners = {{
    {"file", open_file},
    {"redis", redis::open_redis},
    {"rediss", redis::open_redis},
    {"redis+sentinel", redis::open_sentinel},
    {"rediss+sentinel", redis::open_sentinel},
    {"redis+cluster", redis::open_cluster},
    {"rediss+cluster", redis::open_cluster},
    {"postgres", postgres::open_postgres},
}};

}  // namespace

std::span<const StoreOpener> store_openers() { return kOpeners; }

Result<std::unique_ptr<Backend>> open_store(const StoreSpec& spec) {
  const Result<StoreUrl> url = parse_store_url(spec.url);
  if (!url) return Error{url.error().code, "store: " + url.error().message, url.error().hint};
  if (url->layout == StoreLayout::quorum) return quorum::open_quorum(spec, *url);
  const auto opener = std::find_if(kOpeners.begin(), kOpeners.end(), [&](const StoreOpener& row) {
    return row.scheme == url->scheme;
  });
  if (opener != kOpeners.end()) return opener->open(spec, *url);
  return Error{Code::bug, "store: no opener for " + std::string(url->scheme) + "://"};
}

}  // namespace cronlatch
