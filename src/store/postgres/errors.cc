// SPDX-License-Identifier: Apache-2.0
#include "store/postgres/errors.h"

#include <array>

#include "store/redis/errors.h"

namespace cronlatch::postgres {
namespace {

constexpr std::string_view kInitHint =
    "run once, as the owner of the database: cronlatch store init";

// clang-format off
constexpr std::array<SqlStateRow, 29> kTable = {{
    // state, code, transient, drop, again, quote, meaning, hint
    {"", Code::unreachable, true, true, false, true,
     "the server returned an error", "see the server's log"},
    {"08", Code::unreachable, true, true, false, true,
     "the connection failed", "see the server's log"},
    {"22021", Code::config, false, false, false, true,
     "the database cannot store a text", "create the database with ENCODING 'UTF8'"},
    {"22P05", Code::config, false, false, false, true,
     "the database cannot store a text", "create the database with ENCODING 'UTF8'"},
    {"23514", Code::config, false, false, false, true,
     "a value exceeds a limit of the schema", "docs/postgres.md lists the limits of names and sizes"},
    {"25006", Code::unreachable, true, true, false, false,
     "the server is read-only", "set store to the primary server, or to all hosts, separated by commas"},
    {"28", Code::auth, false, true, false, true,
     "the server does not accept this user", "check the user in store, and pg_hba.conf on the server"},
    {"28P01", Code::auth, false, true, false, false,
     "the server refused the user name or the password", "check the user in store, and password-file, credentials-dir or CRONLATCH_PASSWORD"},
    {"3D000", Code::config, false, true, false, true,
     "the database does not exist", "check the database in store"},
    {"3F000", Code::config, false, true, false, false,
     "the schema cronlatch does not exist", kInitHint},
    {"40001", Code::unreachable, true, false, true, false,
     "the transaction conflicted with another one", "no action needed: the request is sent again"},
    {"40P01", Code::unreachable, true, false, true, false,
     "the transaction was part of a deadlock", "no action needed: the request is sent again"},
    {"42501", Code::acl, false, true, false, true,
     "the role lacks a right", "GRANT cronlatch_user TO the role of the run"},
    {"42883", Code::config, false, true, false, false,
     "the schema cronlatch is incomplete", kInitHint},
    {"42P01", Code::config, false, true, false, false,
     "the schema cronlatch is incomplete", kInitHint},
    {"42710", Code::config, false, false, false, true,
     "an object of another program has a name of the schema", "use a database of its own"},
    {"53", Code::unreachable, true, true, false, true,
     "the server has too few resources", "see the server's log: memory or disk may be full"},
    {"53300", Code::unreachable, true, true, false, true,
     "the server has too many clients", "increase max_connections on the server, or the CONNECTION LIMIT of the role or the database; or use a connection pooler"},
    {"55P03", Code::unreachable, true, false, false, false,
     "another transaction locks the row of this lock", "see pg_stat_activity on the server for a transaction that does not end"},
    {"57014", Code::unreachable, true, false, false, false,
     "the server did not finish the request in time", "check the load of the server; op-timeout sets the limit"},
    {"57P01", Code::unreachable, true, true, false, false,
     "the server closes its connections", "see the server's log: it may be shutting down"},
    {"57P02", Code::unreachable, true, true, false, false,
     "a process of the server crashed", "see the server's log"},
    {"57P03", Code::unreachable, true, true, false, false,
     "the server is starting or shutting down", "try again after it has started"},
    {"CL001", Code::config, false, false, false, true,
     "the schema is too new for this program", "use a cronlatch of the version that created it, or a newer one"},
    {"CL002", Code::config, false, false, false, true,
     "the schema belongs to another role", "connect as that role, or use another database"},
    {"CL003", Code::unreachable, true, true, false, true,
     "strict: too few synchronous standbys confirm a commit", "check the standbys in synchronous_standby_names; strict grants nothing without them"},
    {"CL004", Code::config, false, false, false, true,
     "strict: the owner of the schema cannot see the standbys", "as a superuser: GRANT pg_read_all_stats TO the owner of the schema"},
    {"0A000", Code::config, false, true, false, true,
     "the server does not support what cronlatch needs", "cronlatch needs PostgreSQL 13 or newer"},
    {"26", Code::unreachable, true, true, false, true,
     "a connection pooler changed the connection during a request", "set pool_mode of the pooler to transaction or session"},
}};
// clang-format on

}  // namespace

std::span<const SqlStateRow> sql_state_table() { return kTable; }

const SqlStateRow& sql_state_row(std::string_view state) {
  const SqlStateRow* best = &kTable.front();
  for (const SqlStateRow& row : kTable)
    if (state.starts_with(row.state) && row.state.size() > best->state.size()) best = &row;
  return *best;
}

Error postgres_error(Code code, std::string_view where, std::string_view what, std::string hint) {
  return {code, "postgres at " + std::string(where) + ": " + std::string(what), std::move(hint)};
}

Error server_error(const ServerMessage& message, std::string_view where) {
  const SqlStateRow& row = sql_state_row(message.state);
  Error error = postgres_error(row.code, where, row.meaning, std::string(row.hint));
  if (row.quote)
    error.message +=
        ": " + redis::quotable(message.text) + " (" + redis::quotable(message.state) + ")";
  return error;
}

}  // namespace cronlatch::postgres
