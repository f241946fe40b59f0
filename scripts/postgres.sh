# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Temporary PostgreSQL servers with TLS, for the demo: all files are in a folder of the caller; servers are stopped by
# their process id. As root they run as the user postgres, because the server refuses root. Sourced after
# scripts/redis.sh, which has free_port and make_certificates.

POSTGRES_PIDS=()

# The newest programs below /usr/lib/postgresql, or those in TEST_POSTGRES_BIN.
postgres_programs() {
  local found=${TEST_POSTGRES_BIN:-$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)}
  [ -x "$found/postgres" ] || { echo "no PostgreSQL server: install postgresql-15 or set TEST_POSTGRES_BIN" >&2 && return 1; }
  echo "$found"
}

# as_postgres COMMAND...: replaces this shell by the command; call it in a subshell or in the background.
as_postgres() {
  [ "$(id -u)" -ne 0 ] || exec setpriv --reuid postgres --regid postgres --clear-groups -- "$@"
  exec "$@"
}
own_by_postgres() { [ "$(id -u)" -ne 0 ] || chown -R postgres:postgres "$1"; }

# launch_postgres DIR PORT CERTIFICATES: starts the server with the data in DIR/data. Sets POSTGRES_PID.
launch_postgres() {
  local dir=$1 port=$2 certificates=$3
  cp "$certificates/server.pem" "$certificates/server.key" "$dir/"
  chmod 600 "$dir/server.key"
  own_by_postgres "$dir"
  (as_postgres "$PROGRAMS/postgres" -D "$dir/data" -c port="$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$dir" \
    -c fsync=off -c shared_buffers=16MB -c ssl=on -c ssl_cert_file="$dir/server.pem" -c ssl_key_file="$dir/server.key") \
    >>"$dir/postgres.log" 2>&1 &
  POSTGRES_PID=$!
  POSTGRES_PIDS+=("$POSTGRES_PID")
  wait_until 30 "$PROGRAMS/pg_isready" --quiet --host "$dir" --port "$port" || { cat "$dir/postgres.log" >&2 && return 1; }
}

# start_postgres DIR CERTIFICATES: a new primary. Sets POSTGRES_PORT and POSTGRES_PID.
start_postgres() {
  local dir=$1
  PROGRAMS=$(postgres_programs) || return
  POSTGRES_PORT=$(free_port)
  mkdir -p "$dir"
  own_by_postgres "$dir"
  (as_postgres "$PROGRAMS/initdb" -D "$dir/data" --username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync \
    --wal-segsize=1) >"$dir/postgres.log" 2>&1 || { cat "$dir/postgres.log" >&2 && return 1; }
  printf '%s\n' 'local all postgres trust' 'local replication postgres trust' 'hostssl all all 127.0.0.1/32 scram-sha-256' \
    >"$dir/data/pg_hba.conf"
  launch_postgres "$dir" "$POSTGRES_PORT" "$2"
}

# start_postgres_standby DIR PRIMARY-DIR PRIMARY-PORT CERTIFICATES: a standby with the name `standby`. Sets POSTGRES_PORT
# and POSTGRES_PID.
start_postgres_standby() {
  local dir=$1
  POSTGRES_PORT=$(free_port)
  mkdir -p "$dir"
  own_by_postgres "$dir"
  (as_postgres "$PROGRAMS/pg_basebackup" -D "$dir/data" --write-recovery-conf --wal-method=stream --no-sync --checkpoint=fast \
    --dbname "host=$2 port=$3 user=postgres application_name=standby") >"$dir/postgres.log" 2>&1 ||
    { cat "$dir/postgres.log" >&2 && return 1; }
  launch_postgres "$dir" "$POSTGRES_PORT" "$4"
}

# postgres_sql DIR PORT DATABASE SQL: as the superuser; prints the rows only.
postgres_sql() {
  "$PROGRAMS/psql" --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 \
    --host "$1" --port "$2" --username postgres --dbname "$3" --command "$4"
}

# promote_postgres DIR: a standby accepts writes when this returns.
promote_postgres() { (as_postgres "$PROGRAMS/pg_ctl" promote --wait --silent -D "$1/data"); }

stop_all_postgres() {
  local pid
  for pid in "${POSTGRES_PIDS[@]}"; do
    kill -QUIT "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
  done
  POSTGRES_PIDS=()
}
