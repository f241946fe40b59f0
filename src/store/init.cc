// SPDX-License-Identifier: Apache-2.0
#include "store/init.h"

#include "core/store_schemes.h"
#include "store/postgres/open_postgres.h"
#include "store/redis/open_redis.h"

namespace cronlatch {

std::string_view store_definition(std::string_view url) {
  const StoreScheme* const scheme = find_store_scheme(url);
  return scheme != nullptr && scheme->name == "postgres" ? postgres::schema_sql() : "";
}

Result<std::string> init_store(const StoreSpec& spec, TimePoint give_up) {
  const Result<StoreUrl> url = parse_store_url(spec.url);
  if (!url) return url.error();
  if (url->transport == StoreTransport::local || url->layout == StoreLayout::cluster ||
      url->layout == StoreLayout::quorum)
    return Error{Code::usage, "this store needs no initialization",
                 "a postgres:// store has a schema; one Redis server, or Sentinels, have an epoch "
                 "for strict"};
  if (!url->postgres) return redis::create_epoch(spec, *url, give_up);
  const Result<std::string> where = postgres::create_schema(spec, give_up);
  if (!where) return where.error();
  return "the store at " + *where + " is ready";
}

}  // namespace cronlatch
