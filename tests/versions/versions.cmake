# SPDX-License-Identifier: Apache-2.0
# Servers of other versions than Debian's (docs/servers.md). All tests of the suites that use a server are in the preset versions; one
# short test of each Redis, and of the oldest PostgreSQL, is in the preset dev.

# A fixture, and the short test when programs are given. The fixture fails where the server cannot be had: a release is tested with each
# of them.
function(cronlatch_server name)
  add_test(NAME versions/${name}/server COMMAND bash ${PROJECT_SOURCE_DIR}/scripts/servers.sh ${name})
  set_tests_properties(versions/${name}/server PROPERTIES LABELS versions TIMEOUT 300 FIXTURES_SETUP ${name})
  if(ARGN)
    add_test(NAME version/${name} COMMAND bash ${PROJECT_SOURCE_DIR}/tests/versions/smoke.sh ${name} ${ARGN})
    set_tests_properties(version/${name} PROPERTIES LABELS server TIMEOUT 300 SKIP_RETURN_CODE 77)
  endif()
endfunction()

function(cronlatch_redis_version name)
  cronlatch_server(${name} $<TARGET_FILE:contract_tests> $<TARGET_FILE:scripts_tests>)
  foreach(folder contract rules scripts process)
    # The other stores of the contract suite have no server, or another one.
    gtest_discover_tests(${folder}_tests TEST_PREFIX versions/${name}/${folder}/ TEST_LIST ${name}_${folder}_TESTS
                         TEST_FILTER "-*/Memory:*/File:*/Postgres" DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS versions TIMEOUT 300 FIXTURES_REQUIRED ${name}
                         ENVIRONMENT TEST_REDIS_SERVER=${PROJECT_SOURCE_DIR}/build/servers/${name}/redis-server)
  endforeach()
endfunction()

# cronlatch_postgres_test(<version> <folder> <suite> <filter>)
function(cronlatch_postgres_test name folder suite filter)
  set(test versions/${name}/${folder}/${suite})
  add_test(NAME ${test} COMMAND ${folder}_tests --gtest_filter=${filter})
  set_tests_properties(${test} PROPERTIES LABELS versions TIMEOUT 600 COST 60 FIXTURES_REQUIRED ${name}
                       ENVIRONMENT TEST_POSTGRES_BIN=${PROJECT_SOURCE_DIR}/build/servers/${name}/native/bin)
endfunction()

function(cronlatch_postgres_version name)
  cronlatch_server(${name} ${ARGN})
  cronlatch_postgres_test(${name} contract Postgres "*/Postgres:PostgresStore*")
  foreach(suite IN LISTS postgres_suites)
    cronlatch_postgres_test(${name} postgres ${suite} "Postgres${suite}*.*")
  endforeach()
  cronlatch_postgres_test(${name} operator PostgresStats "PostgresStats*.*")
  cronlatch_postgres_test(${name} process Postgres "*/Postgres")
endfunction()

cronlatch_redis_version(redis-6.2)
cronlatch_redis_version(valkey-9.1)
cronlatch_postgres_version(postgres-13 $<TARGET_FILE:contract_tests> $<TARGET_FILE:postgres_tests>)
cronlatch_postgres_version(postgres-14)
cronlatch_postgres_version(postgres-16)
cronlatch_postgres_version(postgres-17)
cronlatch_postgres_version(postgres-18)
# Too old: every program refuses it.
cronlatch_server(postgres-12)
cronlatch_postgres_test(postgres-12 postgres TooOld "PostgresTooOld.*")
