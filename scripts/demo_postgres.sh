#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev demo postgres: a temporary PostgreSQL as the store: a run, a skipped run, a takeover, and a primary that is killed
# while a run holds the lock.
set -euo pipefail
# shellcheck source=scripts/demo_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/demo_common.sh"
# shellcheck source=scripts/redis.sh
source "$ROOT/scripts/redis.sh"
# shellcheck source=scripts/postgres.sh
source "$ROOT/scripts/postgres.sh"

cleanup() {
  stop_holders
  stop_all_postgres
  rm -rf -- "$STAGE"
}
trap cleanup EXIT

chmod 711 "$STAGE"  # the server's user may enter its own folders
make_certificates "$STAGE/tls"
start_postgres "$STAGE/primary" "$STAGE/tls"
PRIMARY_PID=$POSTGRES_PID PRIMARY_PORT=$POSTGRES_PORT
primary() { postgres_sql "$STAGE/primary" "$PRIMARY_PORT" "$@"; }
printf 'open sesame\n' >"$STAGE/password"
printf 'of the owner\n' >"$STAGE/owner-password"
chmod 600 "$STAGE/password" "$STAGE/owner-password"
export CRONLATCH_TLS_CA="$STAGE/tls/ca.pem" CRONLATCH_PASSWORD_FILE="$STAGE/password"

describe "1. A PostgreSQL with TLS. A superuser creates the roles and the database, their owner creates the schema:"
show "psql: CREATE ROLE ...; CREATE DATABASE cronlatch OWNER cronlatch_owner (docs/postgres.md)"
primary postgres "CREATE ROLE cronlatch_owner LOGIN PASSWORD 'of the owner'"
primary postgres "CREATE ROLE cronlatch_user NOLOGIN"
primary postgres "CREATE ROLE cron LOGIN PASSWORD 'open sesame' IN ROLE cronlatch_user"
primary postgres "CREATE DATABASE cronlatch OWNER cronlatch_owner ENCODING 'UTF8' TEMPLATE template0"
show "cronlatch store init --store postgres://cronlatch_owner@127.0.0.1:$PRIMARY_PORT/cronlatch --password-file owner-password --tls-ca ca.pem"
"$BINARY" store init --store "postgres://cronlatch_owner@127.0.0.1:$PRIMARY_PORT/cronlatch" --password-file "$STAGE/owner-password"

export CRONLATCH_STORE="postgres://cron@127.0.0.1:$PRIMARY_PORT/cronlatch"
describe "2. A acquires the lock. B is started while A holds it, and is skipped:"
show "export CRONLATCH_STORE=$CRONLATCH_STORE CRONLATCH_PASSWORD_FILE=password CRONLATCH_TLS_CA=ca.pem"
gate A
GATE_A=$GATE
must "A did not run" wait_until 30 runs A
cat "$STAGE/A.log"
skip B A
touch "$STAGE/A.end"
must "A failed" wait "$GATE_A"

describe "3. C has a lease of 5 seconds. C and its command are killed with SIGKILL. D takes the lock over when the lease has expired:"
gate C --ttl 5s
must "C did not run" wait_until 30 runs C
kill_run C "$GATE"
gate D --ttl 5s --on-busy wait
GATE_D=$GATE
must "D did not take over" wait_until 60 runs D
cat "$STAGE/D.log"
must "C's token is not higher than A's" [ "$(fence C)" -gt "$(fence A)" ]
must "D's token is not higher than C's" [ "$(fence D)" -gt "$(fence C)" ]
touch "$STAGE/D.end"
must "D failed" wait "$GATE_D"

describe "4. A standby is added, and the primary confirms a commit only when the standby has it:"
show "ALTER SYSTEM SET synchronous_standby_names = 'standby'"
primary postgres "ALTER SYSTEM SET synchronous_standby_names = 'standby'"
start_postgres_standby "$STAGE/standby" "$STAGE/primary" "$PRIMARY_PORT" "$STAGE/tls"
STANDBY_PORT=$POSTGRES_PORT
standby() { postgres_sql "$STAGE/standby" "$STANDBY_PORT" "$@"; }
primary postgres "SELECT pg_reload_conf()" >/dev/null
is_synchronous() { [ "$(primary postgres "SELECT sync_state FROM pg_stat_replication")" = sync ]; }
must "the standby is not synchronous" wait_until 30 is_synchronous
export CRONLATCH_STORE="postgres://cron@127.0.0.1:$PRIMARY_PORT,127.0.0.1:$STANDBY_PORT/cronlatch"
show "export CRONLATCH_STORE=$CRONLATCH_STORE"
gate E --ttl 20s --renew-every 2s
GATE_E=$GATE
must "E did not run" wait_until 30 runs E
cat "$STAGE/E.log"

describe "5. The primary is killed while E holds the lock, and the standby is promoted:"
show "kill -QUIT $PRIMARY_PID; pg_ctl promote"
kill -QUIT "$PRIMARY_PID"
{ wait "$PRIMARY_PID" || true; } 2>/dev/null
# Without a standby of its own, the new primary would confirm nothing.
promote_postgres "$STAGE/standby" >/dev/null
show "ALTER SYSTEM SET synchronous_standby_names = ''"
standby postgres "ALTER SYSTEM SET synchronous_standby_names = ''"
standby postgres "SELECT pg_reload_conf()" >/dev/null
echo "F is started. The new primary has the grant of E, so F is skipped:"
skip F E
expires() { standby cronlatch "SELECT expires FROM cronlatch.locks"; }
before=$(expires)
renewed() { [ "$(expires)" -gt "$before" ]; }
must "E did not renew its lease at the new primary" wait_until 30 renewed
echo "E has renewed its lease at the new primary."
touch "$STAGE/E.end"
must "E failed" wait "$GATE_E"
gate G
GATE_G=$GATE
must "G did not run" wait_until 30 runs G
must "G's token is not higher than E's" [ "$(fence G)" -gt "$(fence E)" ]
touch "$STAGE/G.end"
must "G failed" wait "$GATE_G"

describe "6. The new primary has all statistics:"
show "cronlatch metrics | grep -E '^cronlatch_lock_(acquired|released|stolen|restored|open)'"
"$BINARY" metrics >"$STAGE/metrics.log"
grep -E '^cronlatch_lock_(acquired|released|stolen|restored|open)(_total)?\{' "$STAGE/metrics.log"
must "acquired is not 5" [ "$(count cronlatch_lock_acquired_total)" = 5 ]
must "released is not 4" [ "$(count cronlatch_lock_released_total)" = 4 ]
must "stolen is not 1" [ "$(count cronlatch_lock_stolen_total)" = 1 ]
must "a grant had to be restored" [ "$(count cronlatch_lock_restored_total)" = 0 ]

describe "Result: 5 grants = 4 released + 1 stolen; 2 runs were skipped; the failover lost no grant. The servers are stopped and their files are removed."
