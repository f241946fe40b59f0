// SPDX-License-Identifier: Apache-2.0
// From the settings of a store to a PostgresStore, and the schema that it needs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "store/open.h"

namespace cronlatch::postgres {

// Warns when the server is not verified (sslmode=require, sslmode=disable).
Result<std::unique_ptr<Backend>> open_postgres(const StoreSpec& spec, const StoreUrl& url);

// The files of schema/: one transaction, which may be executed again.
std::string_view schema_sql();
// Executes it. Blocks up to `give_up`. Returns host:port of the server.
Result<std::string> create_schema(const StoreSpec& spec, TimePoint give_up);

}  // namespace cronlatch::postgres
