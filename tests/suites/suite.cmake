# SPDX-License-Identifier: Apache-2.0
# cronlatch_suite(<name> <script> <labels> [TIMEOUT <seconds>] [NICE] [<property> <value>...]): a shell script as one ctest test.
# tests/suites/run.sh turns its lines (ok, FAIL, skip) into an exit code; 77 is a skipped test. NICE: at a lower priority.
function(cronlatch_suite name script labels)
  cmake_parse_arguments(PARSE_ARGV 3 suite "NICE" "TIMEOUT" "")
  if(NOT suite_TIMEOUT)
    set(suite_TIMEOUT 600)
  endif()
  # The script is terminated at its timeout and can then clean up; ctest kills what is left.
  math(EXPR kill_after "${suite_TIMEOUT} + 30")
  set(command bash ${PROJECT_SOURCE_DIR}/tests/suites/run.sh ${name} ${suite_TIMEOUT} ${script})
  if(suite_NICE)
    list(PREPEND command nice -n 10)
  endif()
  add_test(NAME ${name} COMMAND ${command} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77 TIMEOUT ${kill_after}
                       ${suite_UNPARSED_ARGUMENTS})
endfunction()

# cronlatch_suites(<folder> <labels> ...): every tests/<folder>/*_test.sh; what follows is the same for each of them.
function(cronlatch_suites folder labels)
  file(GLOB scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*_test.sh)
  foreach(script ${scripts})
    cmake_path(GET script STEM stem)
    string(REGEX REPLACE "_test$" "" stem ${stem})
    cronlatch_suite(${folder}/${stem} ${script} "${labels}" ${ARGN})
  endforeach()
endfunction()
