# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Shared by all commands of ./dev: paths, builds, progress messages. Sourced, not run.

ROOT=${ROOT:-$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)}
JOBS=${JOBS:-$(nproc)}
SIZE_LIMIT=7000000  # bytes of the stripped wrapper
PLUGIN_SIZE_LIMIT=2200000  # bytes of the stripped plugin of kubectl
BINARY=$ROOT/build/release/cronlatch
# shellcheck disable=SC2034  # used by the scripts that source this file
PLUGIN=$ROOT/build/release/kubectl-cronlatch

# shellcheck source=scripts/packages.sh
source "$ROOT/scripts/packages.sh"

say() { printf '\n== %s\n' "$*" >&2; }

configure() {
  local preset=$1
  if ! cmake --list-presets 2>/dev/null | grep -q "\"$preset\""; then
    echo "./dev: there is no preset '$preset'; CMakePresets.json has:" >&2
    cmake --list-presets >&2
    exit 64
  fi
  # A folder whose first configuration failed half-way has a cache but nothing to build with.
  if [ ! -f "build/$preset/build.ninja" ] || [ CMakePresets.json -nt "build/$preset/build.ninja" ]; then
    cmake --preset "$preset" >&2
  fi
}

check_size() {
  local program=$1 limit=$2 size
  size=$(stat -c %s "$program")
  echo "${program#"$ROOT"/}: $size bytes (at most $limit)" >&2
  if [ "$size" -gt "$limit" ]; then
    echo "./dev: ${program#"$ROOT"/} has more than $limit bytes" >&2
    return 1
  fi
}

build_preset() {
  local preset=$1
  say "build $preset"
  case $preset in *-arm64) bash "$ROOT/scripts/sysroot.sh" || return ;; esac
  # Each step has its own `|| return`: the shell ignores set -e within a condition.
  configure "$preset" || return
  # The static C library warns about functions that the program never calls through it; only real errors
  # make the linker fail.
  cmake --build --preset "$preset" --parallel "$JOBS" >&2 || return
  case $preset in release | release-arm64) ;; *) return 0 ;; esac
  check_size "$ROOT/build/$preset/cronlatch" "$SIZE_LIMIT" && check_size "$ROOT/build/$preset/kubectl-cronlatch" "$PLUGIN_SIZE_LIMIT"
}

# For commands whose own output is the result: prints only when the build fails or takes long.
build_quietly() {
  local preset=$1 log
  log=$(mktemp)
  [ -x "$BINARY" ] || echo "building build/release/cronlatch, a minute or two ..." >&2
  if ! build_preset "$preset" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    exit 1
  fi
  rm -f "$log"
}

# wait_until SECONDS COMMAND...: runs COMMAND every 20 ms until it succeeds; fails after SECONDS.
wait_until() {
  local seconds=$1 until_ns
  shift
  until_ns=$(($(date +%s%N) + seconds * 1000000000))
  until "$@"; do
    [ "$(date +%s%N)" -lt "$until_ns" ] || return 1
    sleep 0.02
  done
}

# copy_zones FOLDER [ROOT]: the time zones for the operator, with their path. The Dockerfile has the same commands.
copy_zones() {
  install -d "$1/usr/share"
  tar -C "${2:-}/usr/share" -c --dereference --hard-dereference --exclude=posix --exclude=right --exclude=localtime zoneinfo | tar -C "$1/usr/share" -x --no-same-owner
}
