# SPDX-License-Identifier: Apache-2.0
# ctest reads this file after the names of all tests.
# Nothing runs beside a test that forks without a pause: it takes every process number and processor. Nor beside one in which strace
# delays each kill(2): with it, a run looks for the owner of every other run's cgroup.
foreach(test IN LISTS process_tests_TESTS redis-6.2_process_TESTS valkey-9.1_process_TESTS)
  if(test MATCHES "ForkAndExit|MayBeContinuedBeforeTheRunHasStopped")
    set_tests_properties(${test} PROPERTIES RUN_SERIAL ON)
  endif()
endforeach()
# The random-call comparisons are the longest tests.
foreach(test IN LISTS scripts_tests_TESTS redis-6.2_scripts_TESTS valkey-9.1_scripts_TESTS)
  if(test MATCHES "Property")
    set_tests_properties(${test} PROPERTIES COST 60)
  endif()
endforeach()
# On other servers these two run only in ./dev test all, there in their long form (which the rest of the preset versions has not).
foreach(test IN LISTS redis-6.2_scripts_TESTS valkey-9.1_scripts_TESTS)
  if(test MATCHES "ScriptsDecideAsTheRules(InVirtualTime|WithSeveralSlots)$")
    set_tests_properties(${test} PROPERTIES ENVIRONMENT_MODIFICATION LONG_TESTS=set:1)
  endif()
endforeach()
