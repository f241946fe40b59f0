# SPDX-License-Identifier: Apache-2.0
# Servers of other versions than Debian's (docs/servers.md). Each has one short test in the preset dev, and all tests of the suites
# that use a server in the preset versions.
function(cronlatch_server_version name)
  set(server ${PROJECT_SOURCE_DIR}/build/servers/${name}/redis-server)
  add_test(NAME version/${name} COMMAND bash ${PROJECT_SOURCE_DIR}/tests/versions/smoke.sh ${name}
           $<TARGET_FILE:contract_tests> $<TARGET_FILE:scripts_tests>)
  set_tests_properties(version/${name} PROPERTIES LABELS server TIMEOUT 300 SKIP_RETURN_CODE 77)
  # Fails where the server cannot be had: a release is tested with each of them.
  add_test(NAME versions/${name}/server COMMAND bash ${PROJECT_SOURCE_DIR}/scripts/servers.sh ${name})
  set_tests_properties(versions/${name}/server PROPERTIES LABELS versions TIMEOUT 300 FIXTURES_SETUP ${name})
  foreach(folder contract rules scripts process)
    # The other stores of the contract suite have no server, or another one.
    gtest_discover_tests(${folder}_tests TEST_PREFIX versions/${name}/${folder}/ TEST_LIST ${name}_${folder}_TESTS
                         TEST_FILTER "-*/Memory:*/File:*/Postgres" DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS versions TIMEOUT 300 FIXTURES_REQUIRED ${name} ENVIRONMENT TEST_REDIS_SERVER=${server})
  endforeach()
endfunction()

cronlatch_server_version(redis-6.2)
cronlatch_server_version(valkey-9.1)
