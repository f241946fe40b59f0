// SPDX-License-Identifier: Apache-2.0
// The table of a PostgreSQL server's errors and their meaning for a run. An error is identified by
// its SQLSTATE, never by its text, which the server translates. No I/O.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/postgres/message.h"

namespace cronlatch::postgres {

struct SqlStateRow {
  std::string_view state;  // five characters, two for a class, "" for every other error
  Code code;
  bool transient;  // a retry can help
  bool drop;       // close the connection: another host may work
  bool again;      // the same request can be sent again at once
  bool quote;      // the server's text names the cause: part of the message
  std::string_view meaning;
  std::string_view hint;
};

std::span<const SqlStateRow> sql_state_table();
// The row of the longest `state` that the SQLSTATE begins with.
const SqlStateRow& sql_state_row(std::string_view state);

// The error to report: `where` is host:port.
Error server_error(const ServerMessage& message, std::string_view where);
// The same form for an error that the client found.
Error postgres_error(Code code, std::string_view where, std::string_view what, std::string hint);

}  // namespace cronlatch::postgres
