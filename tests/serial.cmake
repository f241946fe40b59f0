# SPDX-License-Identifier: Apache-2.0
# ctest reads this file after the names of all tests. A test that forks without a pause takes every process number and processor:
# beside another one, both fail.
foreach(test IN LISTS process_tests_TESTS redis-6.2_process_TESTS valkey-9.1_process_TESTS)
  if(test MATCHES "ForkAndExit")
    set_tests_properties(${test} PROPERTIES RUN_SERIAL ON)
  endif()
endforeach()
