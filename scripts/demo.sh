#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev demo [postgres | failover | migrate]: shows the main functions with a temporary Redis. With a name: scripts/demo_NAME.sh.
set -euo pipefail
case ${1:-} in
  '') ;;
  postgres | failover | migrate) exec bash "$(dirname -- "${BASH_SOURCE[0]}")/demo_$1.sh" ;;
  *)
    echo "usage: ./dev demo [postgres | failover | migrate]" >&2
    exit 64
    ;;
esac
# shellcheck source=scripts/demo_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/demo_common.sh"
# shellcheck source=scripts/redis.sh
source "$ROOT/scripts/redis.sh"
# shellcheck source=scripts/prometheus.sh
source "$ROOT/scripts/prometheus.sh"

cleanup() {
  stop_holders
  stop_prometheus
  stop_all_redis
  rm -rf -- "$STAGE"
}
trap cleanup EXIT

make_certificates "$STAGE/tls"
start_redis "$STAGE/redis" --tls-cert-file "$STAGE/tls/server.pem" --tls-key-file "$STAGE/tls/server.key" \
  --tls-ca-cert-file "$STAGE/tls/ca.pem" --tls-auth-clients yes --user default off \
  --user cron on '>open sesame' '~cronlatch:*' '&cronlatch:*' +@all -@dangerous
printf 'open sesame\n' >"$STAGE/password"
chmod 600 "$STAGE/password"

describe "0. Without configuration and without a server, a local file is the store."
show "cronlatch run -- echo hello"
env -i PATH="$PATH" "$BINARY" run -- echo hello | tee "$STAGE/hello.log"
must "the command did not print hello" log_matches hello '^hello$'

export CRONLATCH_STORE="rediss://cron@127.0.0.1:$REDIS_PORT" CRONLATCH_TLS_CA="$STAGE/tls/ca.pem"
export CRONLATCH_TLS_CERT="$STAGE/tls/client.pem" CRONLATCH_TLS_KEY="$STAGE/tls/client.key"
export CRONLATCH_PASSWORD_FILE="$STAGE/password"
describe "1. The store is a Redis with TLS, client certificates and a separate user. A acquires the lock:"
show "export CRONLATCH_STORE=$CRONLATCH_STORE CRONLATCH_TLS_CA=ca.pem"
show "export CRONLATCH_TLS_CERT=client.pem CRONLATCH_TLS_KEY=client.key CRONLATCH_PASSWORD_FILE=password"
gate A
GATE_A=$GATE
must "A did not run" wait_until 30 runs A
cat "$STAGE/A.log"

describe "2. B is started while A holds the lock. B is skipped. Its message contains the holder, the start and the end of the lease:"
skip B A

describe "3. A ends. C acquires the lock with a higher fencing token and a lease of 5 seconds:"
touch "$STAGE/A.end"
must "A failed" wait "$GATE_A"
gate C --ttl 5s
must "C did not run" wait_until 30 runs C
cat "$STAGE/C.log"
must "C's token is not higher than A's" [ "$(fence C)" -gt "$(fence A)" ]

describe "4. C and its command are killed with SIGKILL. D waits until the lease expires and takes the lock over:"
kill_run C "$GATE"
killed_at=$(date +%s%N)
gate D --ttl 5s --on-busy wait
GATE_D=$GATE
must "D did not take over" wait_until 60 runs D
cat "$STAGE/D.log"
printf 'the lock was taken over %d ms after the kill\n' $((($(date +%s%N) - killed_at) / 1000000))
must "D's token is not higher than C's" [ "$(fence D)" -gt "$(fence C)" ]

describe "5. The store contains the lock and its statistics:"
show "cronlatch ls"
"$BINARY" ls | tee "$STAGE/ls.log"
must "the output of ls does not contain D as the holder" log_matches ls 'reports/nightly.*D'
touch "$STAGE/D.end"
must "D failed" wait "$GATE_D"
show "cronlatch metrics | grep -E '^cronlatch_lock_(acquired|released|stolen|open)'"
"$BINARY" metrics >"$STAGE/metrics.log"
grep -E '^cronlatch_lock_(acquired|released|stolen|open)(_total)?\{' "$STAGE/metrics.log"
must "stolen is not 1" [ "$(count cronlatch_lock_stolen_total)" = 1 ]
must "acquired is not 3" [ "$(count cronlatch_lock_acquired_total)" = 3 ]
must "released is not 2" [ "$(count cronlatch_lock_released_total)" = 2 ]

describe "6. Prometheus reads the same statistics from the textfile collector of a node exporter:"
show "cronlatch metrics >textfiles/cronlatch.prom"
mkdir "$STAGE/textfiles"
cp "$STAGE/metrics.log" "$STAGE/textfiles/cronlatch.prom"
must "Prometheus did not scrape the file" start_prometheus "$STAGE/prometheus" "$STAGE/textfiles"
counted() {  # counted NAME: the sum over all locks, from a PromQL query
  local answer
  answer=$(prometheus_query "sum(cronlatch_lock_$1)") && answer=${answer#*=> } && echo "${answer%% *}"
}
for one in "acquired_total 3" "released_total 2" "stolen_total 1" "open 0"; do
  show "promtool query instant \$PROMETHEUS 'sum(cronlatch_lock_${one% *})'   # ${one#* }"
  must "Prometheus counts $(counted "${one% *}"), not $one" [ "$(counted "${one% *}")" = "${one#* }" ]
done

describe "Result: 3 grants = 2 released + 1 stolen, 0 open; 1 run was skipped. Redis is stopped and its files are removed."
