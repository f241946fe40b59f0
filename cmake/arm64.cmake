# SPDX-License-Identifier: Apache-2.0
# Toolchain of the presets for arm64: Debian's cross compiler, with the headers and libraries of build/sysroot/arm64
# (scripts/sysroot.sh) alone. The cross compiler's packages have a C library of their own, which gets no security updates.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(compiler aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

cmake_path(SET root NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../build/sysroot/arm64")
if(NOT EXISTS ${root}/.complete)
  message(FATAL_ERROR "${root} is missing: scripts/sysroot.sh makes it")
endif()
set(CMAKE_SYSROOT ${root})

# -nostdinc removes the compiler's own folders; the same folders of the sysroot follow, in gcc's order.
execute_process(COMMAND ${compiler} -dumpversion OUTPUT_VARIABLE gcc
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(options -nostdinc -nostdinc++)
foreach(folder IN ITEMS ${root}/usr/include/c++/${gcc} ${root}/usr/include/aarch64-linux-gnu/c++/${gcc}
                        ${root}/usr/include/c++/${gcc}/backward ${root}/usr/lib/gcc/aarch64-linux-gnu/${gcc}/include
                        ${root}/usr/include/aarch64-linux-gnu ${root}/usr/include)
  list(APPEND options -isystem ${folder})
endforeach()
# -B is also a folder of libraries, before the compiler's own. The path of the sysroot is not part of the result.
list(APPEND options -B${root}/usr/lib/gcc/aarch64-linux-gnu/${gcc} -B${root}/usr/lib/aarch64-linux-gnu
     -ffile-prefix-map=${root}=)
# Options in this list are part of every call; CMAKE_CXX_FLAGS of a preset does not replace them.
set(CMAKE_CXX_COMPILER ${compiler} ${options})

set(CMAKE_FIND_ROOT_PATH ${root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Also starts the programs for arm64 that a program starts.
set(CMAKE_CROSSCOMPILING_EMULATOR bash ${CMAKE_CURRENT_LIST_DIR}/../scripts/with_arm64.sh)
