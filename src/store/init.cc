// SPDX-License-Identifier: Apache-2.0
#include "store/init.h"

#include "core/store_schemes.h"
#include "store/postgres/open_postgres.h"

namespace cronlatch {

std::string_view store_definition(std::string_view url) {
  const StoreScheme* const scheme = find_store_scheme(url);
  return scheme != nullptr && scheme->name == "postgres" ? postgres::schema_sql() : "";
}

Result<std::string> init_store(const StoreSpec& spec, TimePoint give_up) {
  if (store_definition(spec.url).empty())
    return Error{Code::usage, "this store needs no initialization",
                 "only a postgres:// store has a schema"};
  return postgres::create_schema(spec, give_up);
}

}  // namespace cronlatch
