#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds every #include below src/ to the arrows that src/CMakeLists.txt declares, and foreign headers to their one module.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

# allowed_for MODULE: itself and what CMake lets it link, from the declaration itself.
allowed_for() {
  printf '%s ' "$1"
  sed -nE "s/^ *cronlatch_module\($1 ?([a-z ]*)\)$/\1/p; s/^ *target_link_libraries\(cronlatch-$1 PRIVATE ([a-z ]*)\)$/\1/p" \
    "$ROOT/src/CMakeLists.txt" | tr '\n' ' '
}

# our_headers_follow_the_arrows SRC MODULE
our_headers_follow_the_arrows() {
  local allowed pattern
  allowed=$(allowed_for "$2")
  pattern=$(printf '%s' "$allowed" | tr -s ' ' '|')
  ! grep -rnE '^ *# *include *"' "$1/$2" --include='*.cc' --include='*.h' | grep -vE "\"(${pattern%|})/"
}

core_knows_the_standard_library_only() {
  ! grep -rnE '^ *# *include *<[^>]*[./]' "$1/core" --include='*.cc' --include='*.h'
}

# only_in SRC HEADER-PATTERN ALLOWED-PATTERN: a foreign library has its one home.
only_in() { ! grep -rnE "^ *# *include *[<\"]$2" "$1" --include='*.cc' --include='*.h' | grep -vE "^$1/($3)"; }

for module in core clock store proc config cli kube plugin image admission rest registry operator gen; do
  check "$module includes only what src/CMakeLists.txt allows it: $(allowed_for $module)" \
    our_headers_follow_the_arrows "$ROOT/src" $module
done
check "core includes the C++ standard library and nothing else" core_knows_the_standard_library_only "$ROOT/src"
check "only config includes yaml-cpp" only_in "$ROOT/src" 'yaml-cpp/' 'config/'
check "only the Redis store includes hiredis and c-ares" only_in "$ROOT/src" '(hiredis|ares)' 'store/redis/'
check "only store, config, the operator and its two clients include OpenSSL" \
  only_in "$ROOT/src" 'openssl/' '(store/redis/|config/|operator/|rest/|registry/)'
check "only the operator's HTTP server includes Boost" only_in "$ROOT/src" 'boost/' 'operator/http_(server|connection|deadline)\.'
check "only the operator's metrics include prometheus-cpp" only_in "$ROOT/src" 'prometheus/' 'operator/metrics\.cc:'
check "only the API client includes cpprestsdk" only_in "$ROOT/src" 'cpprest/' 'rest/(wire\.cc|sink\.h):'
check "nobody includes iostream, whose set-up the static program leaves out" \
  only_in "$ROOT/src" '(iostream|print)>' 'gen/'

# A checker that cannot say no proves nothing.
bad=$(mktemp -d)
trap 'rm -rf -- "$bad"' EXIT
mkdir -p "$bad/core" "$bad/store/redis" "$bad/proc"
printf '#include "core/store.h"\n#include <unistd.h>\n' >"$bad/core/wrong.cc"
printf '#include "core/run.h"\n#include "proc/drive.h"\n' >"$bad/store/wrong.h"
printf '# include <hiredis/hiredis.h>\n#include <boost/asio.hpp>\n' >"$bad/proc/wrong.cc"
refuses "control: an include against the arrows is found" our_headers_follow_the_arrows "$bad" store
refuses "control: a system header in core is found" core_knows_the_standard_library_only "$bad"
refuses "control: Boost outside of its home is found" only_in "$bad" 'boost/' 'operator/http_(server|connection|deadline)\.'
refuses "control: hiredis outside of its home is found" only_in "$bad" '(hiredis|ares)' 'store/redis/'
finish
