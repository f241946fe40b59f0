# SPDX-License-Identifier: Apache-2.0
# Writes OUT: the function schema_sql() with the text of the file SQL.
cmake_policy(VERSION 3.25)
file(READ ${SQL} text)
file(WRITE ${OUT} "// Written by cmake/embed_sql.cmake from schema.sql; not edited.
#include \"store/postgres/open_postgres.h\"

namespace cronlatch::postgres {
std::string_view schema_sql() { return R\"SQL(${text})SQL\"; }
}  // namespace cronlatch::postgres
")
