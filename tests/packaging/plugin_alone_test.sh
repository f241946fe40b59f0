#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The plugin of kubectl builds alone, also on systems other than Linux: with the preset plugin-portable, without the macros
# that only Linux has (without_linux.h). It calls no function that only Linux has, and needs no library of the other programs.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../binary/lib.sh"
# shellcheck source=scripts/common.sh
source "$ROOT/scripts/common.sh"
cd "$ROOT" || exit 1

TREE=build/plugin-portable
STAGE=$(mktemp -d)
trap 'rm -rf -- "$STAGE"' EXIT

# Functions of C and POSIX that macOS has (its manual pages, sections 2 and 3). Add a name only with such a page.
cat >"$STAGE/portable" <<'END'
clock_gettime
close
fcntl
getenv
inet_pton
kill
ldexp
localeconv
memchr
memcmp
memcpy
memmove
memset
open
pipe
poll
posix_spawn_file_actions_adddup2
posix_spawn_file_actions_destroy
posix_spawn_file_actions_init
posix_spawnattr_destroy
posix_spawnattr_init
posix_spawnattr_setflags
posix_spawnattr_setsigdefault
posix_spawnp
read
sigaddset
sigemptyset
signal
snprintf
strcmp
strerror
strlen
strtod
strtol
strtoll
strtoull
waitpid
write
END

built() { build_preset plugin-portable >"$STAGE/build.log" 2>&1 || { tail -n 30 "$STAGE/build.log" && return 1; }; }
check "the plugin builds alone, without the macros of Linux" built

# calls PROGRAM: the functions of the C library that it calls. Names with __ are those of the compiler and of glibc's headers.
calls() { nm -D --undefined-only "$1" | sed -n 's/^ *U \([a-z]\w*\)@GLIBC_.*/\1/p' | sort -u; }
only_portable() {
  local others
  [ -n "$(calls "$1")" ] || { echo "nm prints no function of $1" && return 1; }
  others=$(calls "$1" | comm -23 - <(sort "$STAGE/portable"))
  [ -z "$others" ] || { printf 'not on the list of portable functions:\n%s\n' "$others" && return 1; }
}
check "it calls only functions that macOS has" only_portable "$TREE/kubectl-cronlatch"

printf '#include <fcntl.h>\n#include <unistd.h>\nint main() { int e[2]; return pipe2(e, O_CLOEXEC); }\n' >"$STAGE/linux.cc"
c++ -o "$STAGE/linux" "$STAGE/linux.cc"
finds_pipe2() { [[ $(only_portable "$STAGE/linux") == *pipe2 ]]; }
check "control: a call of pipe2 is found" finds_pipe2

# Headers that macOS lacks. Those of <linux/...> are also part of glibc's own headers.
headers() { ninja -C "$1" -t deps | sed -n 's,^ .*/\(sys/[a-z]*\.h\|stop_token\)$,\1,p' | sort -u; }
only_portable_headers() {
  [ -n "$(headers "$TREE")" ] || { echo "ninja prints no header" && return 1; }
  ! headers "$TREE" | grep -xE 'sys/(epoll|eventfd|inotify|prctl|sendfile|signalfd|sysinfo|timerfd)\.h|stop_token'
}
check "it includes no header that macOS lacks" only_portable_headers

other_libraries() { ! grep -E '^(HIREDIS|CARES|YAML|Boost|cpprest|prometheus)' "$TREE/CMakeCache.txt"; }
check "it needs no library of the other programs" other_libraries

prints_version() { [ "$("$TREE/kubectl-cronlatch" version)" = "$("$PLUGIN" version)" ]; }
check "it runs" prints_version
finish
