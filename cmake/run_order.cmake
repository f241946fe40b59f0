# SPDX-License-Identifier: Apache-2.0
# Puts the functions that a run calls side by side in the static program, so that it touches fewer pages, and leaves out
# what nobody reads (decision 0016). run_order.txt lists the sections; one that is not there any more is passed over.
function(cronlatch_order_functions target)
  set(order ${PROJECT_SOURCE_DIR}/cmake/run_order.txt)
  set(script ${PROJECT_BINARY_DIR}/run_order.ld)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_EXE_LINKER_FLAGS}")
  # The linker's own script for these flags; that there is nothing to link comes after it has been shown.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${flags} -static -Wl,--verbose
                  OUTPUT_VARIABLE shown ERROR_QUIET)
  string(REGEX MATCH "\n====+\n(.*)\n====+\n" found "${shown}")
  set(own "${CMAKE_MATCH_1}")
  set(first "    *(.text.unlikely .text.*_unlikely .text.unlikely.*)\n")
  string(FIND "${own}" "${first}" at)
  if(at EQUAL -1)
    message(WARNING "this linker shows no script to put the functions of a run into: they stay where they are")
    return()
  endif()
  file(READ ${order} wanted)
  string(REGEX REPLACE "#[^\n]*\n" "" wanted "${wanted}")
  string(REGEX MATCHALL "[^\n]*\\(\\.rodata[^\n]*\n" constants "${wanted}")
  string(JOIN "" constants ${constants})
  string(REGEX REPLACE "[^\n]*\\(\\.rodata[^\n]*\n" "" wanted "${wanted}")
  string(REPLACE "${first}" "${wanted}${first}" own "${own}")
  # Behind all code it would be a stretch of its own.
  string(REGEX MATCH "\n  \\.fini  [^}]*}" fini "${own}")
  string(REPLACE "${fini}" "" own "${own}")
  string(REPLACE "\n  .text  " "${fini}\n  .text  " own "${own}")
  # What an exception would need to pass through OpenSSL, which calls nothing of ours that throws: 7 % of the program.
  string(REGEX REPLACE "\n( *\.eh_frame +: ONLY_IF_RO)"
                       "\n  /DISCARD/ : { *libcrypto.a:*(.eh_frame) *libssl.a:*(.eh_frame) }\n\\1" own "${own}")
  # OpenSSL's data apart from everybody else's, of which a run then touches fewer pages.
  set(openssl "*libcrypto.a:* *libssl.a:*")
  string(REPLACE "  .rodata         : {"
                 "  .rodata.openssl : { *libcrypto.a:*(.rodata .rodata.*) *libssl.a:*(.rodata .rodata.*) }\n  .rodata         : {\n${constants}   "
                 own "${own}")
  string(REPLACE "  {\n    *(.data .data.*"
                 "  {\n    *libcrypto.a:*(.data .data.*) *libssl.a:*(.data .data.*)\n    *(.data .data.*" own "${own}")
  string(REPLACE "*(.bss .bss.*" "*(EXCLUDE_FILE(${openssl}) .bss EXCLUDE_FILE(${openssl}) .bss.*) *(.bss .bss.*" own "${own}")
  string(REPLACE ".data.rel.ro : {" ".data.rel.ro : { *libcrypto.a:*(.data.rel.ro*) *libssl.a:*(.data.rel.ro*)" own "${own}")
  # Makers of what only a configuration file needs are called by src/config/late_yaml.cc; libstdc++'s only mark locales as
  # made. Where the script has no place for their list they stay with the others, and are called before main.
  set(late "*libyaml-cpp.a:* *libstdc++.a:*locale-inst.o")
  string(REPLACE "\n  .fini_array  "
                 "\n  .late_array : { cronlatch_late_begins = .; KEEP (*(.init_array)) cronlatch_late_ends = .; }\n  .fini_array  "
                 own "${own}")
  if(own MATCHES "late_array")
    string(REPLACE "KEEP (*(.init_array EXCLUDE" "KEEP (*(EXCLUDE_FILE(${late}) .init_array EXCLUDE" own "${own}")
  endif()
  file(WRITE ${script} "${own}")
  target_link_options(${target} PRIVATE -Wl,-T,${script})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${order})
endfunction()
