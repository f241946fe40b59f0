#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The released programs for arm64, which the kernel starts with qemu-user: what they are, and runs on each kind of store. The
# servers are those of the host.
set -uo pipefail
# shellcheck source=tests/arm64/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/postgres.sh
source "$ROOT/scripts/postgres.sh"
BINARY=${TESTED_BINARY:-$ROOT/build/release-arm64/cronlatch}
PLUGIN=${TESTED_PLUGIN:-$ROOT/build/release-arm64/kubectl-cronlatch}

start_in_arm64 "$BINARY" release-arm64 "$@"

STAGE=$(mktemp -d)
HOLDER=''
# shellcheck disable=SC2329
cleanup() {
  [ -z "$HOLDER" ] || kill "$HOLDER" 2>/dev/null
  stop_all_redis
  stop_all_postgres
  rm -rf -- "$STAGE"
}
trap cleanup EXIT
chmod 711 "$STAGE"  # the server's user may enter its own folder

# ---- the files ----
check_program() {  # PROGRAM SIZE-LIMIT
  local name
  name=$(basename -- "$1")
  check "$name is for arm64" is_for_arm64 "$1"
  check_static_program "$1" "$2"
  check "$name contains no path of its build" contains_no_path "$1"
}
check_program "$BINARY" "$SIZE_LIMIT"
check_program "$PLUGIN" "$PLUGIN_SIZE_LIMIT"
refuses "control: a program of this host is not for arm64" is_for_arm64 /bin/true

# ---- without a store ----
VERSION=$(sed -nE 's/^project\(cronlatch VERSION ([0-9.]+).*/\1/p' "$ROOT/CMakeLists.txt")
prints_its_version() { [ "$("$BINARY" version)" = "cronlatch $VERSION" ]; }
prints_help() { "$@" | grep -q "$PURPOSE"; }
check "cronlatch prints its version" prints_its_version
PURPOSE='cronlatch run' check "cronlatch prints its help" prints_help "$BINARY" --help
PURPOSE='kubectl cronlatch' check "kubectl-cronlatch prints its help" prints_help "$PLUGIN" help
copies_itself() { mkdir -p "$STAGE/bin" && "$BINARY" install "$STAGE/bin" && cmp "$BINARY" "$STAGE/bin/cronlatch" && "$STAGE/bin/cronlatch" version; }
check "cronlatch installs a copy of itself, which runs" copies_itself

# ---- runs ----
# An emulated handshake takes longer; no time is tested.
export CRONLATCH_CONNECT_TIMEOUT=30s CRONLATCH_OP_TIMEOUT=10s
gate() { "$BINARY" run --lock proof "$@"; }
ends_with() {  # CODE OPTION... -- COMMAND...
  local wanted=$1 code=0
  shift
  gate "$@" || code=$?
  echo "exit code $code, wanted $wanted"
  [ "$code" = "$wanted" ]
}
# shellcheck disable=SC2016  # the command of the run expands it
has_a_fence() { gate -- sh -c 'test "$CRONLATCH_FENCE" -gt 0'; }
is_skipped() { gate -- touch "$STAGE/second" 2>"$STAGE/skipped" && cat "$STAGE/skipped" && grep -q skipped "$STAGE/skipped" && [ ! -e "$STAGE/second" ]; }
held() { [ -e "$STAGE/held" ]; }
check_runs() {  # STORE: the environment has its URL
  check "$1: returns the exit code of the command" ends_with 7 -- sh -c 'exit 7'
  check "$1: a command that a signal ends" ends_with 143 -- sh -c 'kill -TERM $$'
  check "$1: the command has a fencing token" has_a_fence
  check "$1: runs the command for arm64 of an image for several architectures" \
    ends_with 5 --command-by-arch '{"amd64": ["false"], "arm64": ["sh", "-c"]}' -- 'exit 5'
  rm -f "$STAGE/held"
  "$BINARY" run --lock proof -- sh -c "touch '$STAGE/held'; exec sleep 600" >"$STAGE/holder.log" 2>&1 &
  HOLDER=$!
  check "$1: a run holds the lock" wait_until 60 held
  check "$1: the next run is skipped" is_skipped
  kill -TERM "$HOLDER"
  wait "$HOLDER"
  HOLDER=''
  check "$1: the lock is free after a TERM to its holder" ends_with 0 --on-busy fail -- true
}

CRONLATCH_STORE=file://$STAGE/locks check_runs "file store"

make_certificates "$STAGE/tls"
make_certificates "$STAGE/other"
start_redis "$STAGE/redis" --tls-cert-file "$STAGE/tls/server.pem" --tls-key-file "$STAGE/tls/server.key" \
  --tls-ca-cert-file "$STAGE/tls/ca.pem" --tls-auth-clients no || exit 1
export CRONLATCH_TLS_CA=$STAGE/tls/ca.pem
CRONLATCH_STORE=rediss://localhost:$REDIS_PORT check_runs "Redis over TLS"
CRONLATCH_STORE=rediss://localhost:$REDIS_PORT CRONLATCH_TLS_CA=$STAGE/other/ca.pem \
  check "a server of another CA is refused with 77" ends_with 77 -- touch "$STAGE/untrusted"
check "its command has not run" test ! -e "$STAGE/untrusted"

start_postgres "$STAGE/primary" "$STAGE/tls" || exit 1
sql() { postgres_sql "$STAGE/primary" "$POSTGRES_PORT" postgres "$1"; }
(umask 077 && echo 'open sesame' >"$STAGE/password")
sql "CREATE ROLE cronlatch_user NOLOGIN"
sql "CREATE ROLE cron LOGIN PASSWORD 'open sesame' IN ROLE cronlatch_user"
sql "CREATE DATABASE cronlatch OWNER cron ENCODING 'UTF8' TEMPLATE template0"
export CRONLATCH_PASSWORD_FILE=$STAGE/password CRONLATCH_STORE=postgres://cron@127.0.0.1:$POSTGRES_PORT/cronlatch
check "PostgreSQL over TLS: the schema is created" "$BINARY" store init
check_runs "PostgreSQL over TLS"
finish
