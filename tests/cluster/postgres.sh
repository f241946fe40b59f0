# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A real PostgreSQL with TLS for one scenario, in the cluster's network; pods find it by the name of a Service. Sourced
# after lib.sh, when the namespace exists.

POSTGRES_NAME=postgres.$NS.svc.cluster.local
POSTGRES_LOG=postgres-$NS
POSTGRES_HOME=$(mktemp -d)
# shellcheck disable=SC2034  # for the scenario
POSTGRES_URL=postgres://$POSTGRES_NAME./cronlatch  # the users are in the Secrets

# The server refuses root.
postgres_user() { setpriv --reuid postgres --regid postgres --clear-groups -- "$@"; }

make_postgres() {
  POSTGRES_PROGRAMS=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin | sort -V | tail -n 1)
  POSTGRES_PORT=$(free_port)
  authority "$POSTGRES_HOME" "PostgreSQL of $NAME"
  leaf "$POSTGRES_HOME/server" /CN=postgres "DNS:$POSTGRES_NAME"
  chown -R postgres:postgres "$POSTGRES_HOME"
  postgres_user "$POSTGRES_PROGRAMS/initdb" -D "$POSTGRES_HOME/data" --username=postgres --auth=trust --encoding=UTF8 --locale=C \
    >"$POSTGRES_HOME/initdb.log" 2>&1 || { show <"$POSTGRES_HOME/initdb.log" && fail "initdb failed" && finish; }
  printf '%s\n' 'local all all trust' 'hostssl all all 0.0.0.0/0 scram-sha-256' >"$POSTGRES_HOME/data/pg_hba.conf"
  start_postgres
  k apply -f - >/dev/null <<YAML
apiVersion: v1
kind: Service
metadata: {name: postgres}
spec: {ports: [{name: postgres, port: 5432}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: postgres, labels: {kubernetes.io/service-name: postgres}}
addressType: IPv4
endpoints: [{addresses: [$NODE_IP]}]
ports: [{name: postgres, port: $POSTGRES_PORT}]
YAML
}

start_postgres() {
  start "$POSTGRES_LOG" setpriv --reuid postgres --regid postgres --clear-groups -- "$POSTGRES_PROGRAMS/postgres" -D "$POSTGRES_HOME/data" \
    -c listen_addresses="$NODE_IP" -c port="$POSTGRES_PORT" -c unix_socket_directories="$POSTGRES_HOME" -c ssl=on \
    -c ssl_cert_file="$POSTGRES_HOME/server.crt" -c ssl_key_file="$POSTGRES_HOME/server.key"
  wait_until 30 "$POSTGRES_PROGRAMS/pg_isready" --quiet --host "$POSTGRES_HOME" --port "$POSTGRES_PORT" ||
    { show <"$DIR/log/$POSTGRES_LOG.log" && fail "PostgreSQL did not start within 30 s" && finish; }
}
# As after a crash: no process of the server writes anything more.
kill_postgres() {
  local pid
  pid=$(cat "$DIR/pid/$POSTGRES_LOG") && kill -QUIT "$pid" && wait_until 10 gone "$pid"
}
stop_postgres() {
  stop_program "$POSTGRES_LOG" 10
  rm -rf -- "$POSTGRES_HOME"
}

# sql DATABASE STATEMENT: as the superuser; prints the rows only.
sql() {
  "$POSTGRES_PROGRAMS/psql" --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --host "$POSTGRES_HOME" \
    --port "$POSTGRES_PORT" --username postgres --dbname "$1" --command "$2"
}

# postgres_secret NAMESPACE NAME ROLE PASSWORD
postgres_secret() {
  printf '%s' "$3" >"$POSTGRES_HOME/username"
  printf '%s' "$4" >"$POSTGRES_HOME/password"
  secret_of_files "$1" "$2" "$POSTGRES_HOME"/{username,password,ca.crt}
}
