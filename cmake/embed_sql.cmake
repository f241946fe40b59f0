# SPDX-License-Identifier: Apache-2.0
# Writes OUT: the function schema_sql() with the text of the files in FOLDER, in the order of this list. A function in SQL uses only
# tables and functions of the files before its own; one in PL/pgSQL uses any.
cmake_policy(VERSION 3.25)
set(files begin tables limits rows answers lease queue slots turns restore
          acquire_busy acquire_grant acquire renew release revoke strict view rights)

file(GLOB unused ${FOLDER}/*.sql)
set(text "")
foreach(name IN LISTS files)
  file(READ ${FOLDER}/${name}.sql part)
  string(REPLACE "-- SPDX-License-Identifier: Apache-2.0\n" "" part "${part}")
  string(APPEND text "\n${part}")
  list(REMOVE_ITEM unused ${FOLDER}/${name}.sql)
endforeach()
if(unused)
  message(FATAL_ERROR "cmake/embed_sql.cmake: the list of files lacks ${unused}")
endif()
file(WRITE ${OUT} "// Written by cmake/embed_sql.cmake from store/postgres/schema; not edited.
#include \"store/postgres/open_postgres.h\"

namespace cronlatch::postgres {
std::string_view schema_sql() { return R\"SQL(-- SPDX-License-Identifier: Apache-2.0${text})SQL\"; }
}  // namespace cronlatch::postgres
")
