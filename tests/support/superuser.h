// SPDX-License-Identifier: Apache-2.0
// One session of the role postgres with a PostgreSQL server of a test.
#pragma once

#include <string>
#include <vector>

#include "store/postgres/link.h"

namespace cronlatch::testing {

class Superuser {
 public:
  // Connects to the server on this port of 127.0.0.1 with the first statement.
  Superuser(int port, const std::string& database);
  // The rows of all statements in `sql`.
  Result<std::vector<postgres::Row>> operator()(const std::string& sql);

 private:
  postgres::Link link_;
};

}  // namespace cronlatch::testing
