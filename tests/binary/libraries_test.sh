#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each third-party library is included in one module. The headers of the project need no such test: an include that
# src/CMakeLists.txt does not permit does not compile.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

core_includes_the_standard_library_only() {
  ! grep -rnE '^ *# *include *<[^>]*[./]' "$1/core" --include='*.cc' --include='*.h'
}

# only_in SRC HEADER-PATTERN ALLOWED-PATTERN
only_in() { ! grep -rnE "^ *# *include *[<\"]$2" "$1" --include='*.cc' --include='*.h' | grep -vE "^$1/($3)"; }

check "core includes the C++ standard library and nothing else" core_includes_the_standard_library_only "$ROOT/src"
check "only config includes yaml-cpp" only_in "$ROOT/src" 'yaml-cpp/' 'config/'
check "only the Redis store includes hiredis and c-ares" only_in "$ROOT/src" '(hiredis|ares)' 'store/redis/'
check "only base, store, the operator's TLS and its two clients include OpenSSL" \
  only_in "$ROOT/src" 'openssl/' '(base/|store/(redis|postgres)/|operator/|rest/|registry/)'
check "only the operator's HTTP server includes Boost" only_in "$ROOT/src" 'boost/' 'operator/http/'
check "only the operator's metrics include prometheus-cpp" only_in "$ROOT/src" 'prometheus/' 'operator/metrics/metrics\.cc:'
check "only the API client includes cpprestsdk" only_in "$ROOT/src" 'cpprest/' 'rest/(https_client\.cc|sink\.h):'

# Controls: each check must be able to fail.
bad=$(mktemp -d)
trap 'rm -rf -- "$bad"' EXIT
mkdir -p "$bad/core" "$bad/proc"
printf '#include "core/store.h"\n#include <unistd.h>\n' >"$bad/core/wrong.cc"
printf '# include <hiredis/hiredis.h>\n#include <boost/asio.hpp>\n' >"$bad/proc/wrong.cc"
refuses "control: a system header in core is found" core_includes_the_standard_library_only "$bad"
refuses "control: Boost outside of its module is found" only_in "$bad" 'boost/' 'operator/http/'
refuses "control: hiredis outside of its module is found" only_in "$bad" '(hiredis|ares)' 'store/redis/'
finish
