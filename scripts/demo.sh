#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev demo: the whole promise in one screen, on a Redis of its own that is gone afterwards. Every step is checked: the
# demo fails when the story did not happen as it is told. It waits for what happens, never for time to pass.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/redis.sh
source "$ROOT/scripts/redis.sh"
# shellcheck source=scripts/prometheus.sh
source "$ROOT/scripts/prometheus.sh"

STAGE=$(mktemp -d)
HOLDERS=()

cleanup() {
  local pid
  for pid in "${HOLDERS[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  stop_prometheus
  stop_all_redis
  rm -rf -- "$STAGE"
}
trap cleanup EXIT

tell() { printf '\n%s\n' "$*"; }
show() { printf '$ %s\n' "$*"; }
wrong() {
  printf '\nthe demo went wrong: %s\n' "$*" >&2
  tail -n 20 "$STAGE"/*.log >&2 || true
  exit 1
}
must() {  # must WHAT COMMAND...
  local what=$1
  shift
  "$@" || wrong "$what"
}
said() { grep -Eq -- "$2" "$STAGE/$1.log"; }

# gate NAME OPTIONS...: `cronlatch run` in the background, holder NAME. The command, ./report, says its fencing token and
# ends when the file NAME.end is there.
gate() {
  local name=$1
  shift
  show "cronlatch run --lock reports/nightly --holder $name${*:+ $*} -- ./report &"
  (cd "$STAGE" && exec "$BINARY" run --lock reports/nightly --holder "$name" "$@" -- ./report) >"$STAGE/$name.log" 2>&1 &
  GATE=$!
  HOLDERS+=("$GATE")
}
runs() { [ -e "$STAGE/$1.fence" ]; }
fence() { cat "$STAGE/$1.fence"; }
ended() { ! kill -0 "$1" 2>/dev/null; }
count() { sed -n "s/^$1{[^}]*lock=\"reports\/nightly\"[^}]*} //p" "$STAGE/metrics.log"; }

cat >"$STAGE/report" <<'REPORT'
#!/bin/sh
me=$CRONLATCH_LOCK_HOLDER
echo "$$" >"$me.pid"
echo "report: written by $me, fencing token $CRONLATCH_FENCE"
echo "$CRONLATCH_FENCE" >"$me.new" && mv "$me.new" "$me.fence"
while [ ! -e "$me.end" ]; do sleep 0.05; done
REPORT
chmod +x "$STAGE/report"

make_certificates "$STAGE/tls"
start_redis "$STAGE/redis" --tls-cert-file "$STAGE/tls/server.pem" --tls-key-file "$STAGE/tls/server.key" \
  --tls-ca-cert-file "$STAGE/tls/ca.pem" --tls-auth-clients yes --user default off \
  --user cron on '>open sesame' '~cronlatch:*' '&cronlatch:*' +@all -@dangerous
printf 'open sesame\n' >"$STAGE/password"
chmod 600 "$STAGE/password"

tell "0. No configuration, no server: a local file is the store."
show "cronlatch run -- echo hello"
env -i PATH="$PATH" "$BINARY" run -- echo hello | tee "$STAGE/hello.log"
must "the command did not say hello" said hello '^hello$'

export CRONLATCH_STORE="rediss://cron@127.0.0.1:$REDIS_PORT" CRONLATCH_TLS_CA="$STAGE/tls/ca.pem"
export CRONLATCH_TLS_CERT="$STAGE/tls/client.pem" CRONLATCH_TLS_KEY="$STAGE/tls/client.key"
export CRONLATCH_PASSWORD_FILE="$STAGE/password"
tell "1. A Redis over TLS, with client certificates and a user of its own:"
show "export CRONLATCH_STORE=$CRONLATCH_STORE CRONLATCH_TLS_CA=ca.pem"
show "export CRONLATCH_TLS_CERT=client.pem CRONLATCH_TLS_KEY=client.key CRONLATCH_PASSWORD_FILE=password"
gate A
GATE_A=$GATE
must "A did not run" wait_until 30 runs A
cat "$STAGE/A.log"

tell "2. B is started meanwhile. It is skipped and says who, since when, until when:"
show "cronlatch run --lock reports/nightly --holder B -- ./report; echo \"exit code \$?\""
code=0
(cd "$STAGE" && exec "$BINARY" run --lock reports/nightly --holder B -- ./report) >"$STAGE/B.log" 2>&1 || code=$?
cat "$STAGE/B.log"
echo "exit code $code"
must "B ran" eval '! runs B'
must "B's exit code is not 0" [ "$code" = 0 ]
must "B does not say that it was skipped, and who holds the lock" said B 'skipped.* held by A since .*Z.* until .*Z'

tell "3. A ends; C acquires, with a higher fencing token. Its lease is 5 seconds:"
touch "$STAGE/A.end"
must "A failed" wait "$GATE_A"
gate C --ttl 5s
must "C did not run" wait_until 30 runs C
cat "$STAGE/C.log"
must "C's token is not higher than A's" [ "$(fence C)" -gt "$(fence A)" ]

tell "4. C and its command are killed with SIGKILL. D waits for the lease to end, then takes over:"
show "kill -9 $GATE $(cat "$STAGE/C.pid")"
kill -9 "$GATE" "$(cat "$STAGE/C.pid")"
{ wait "$GATE" || true; } 2>/dev/null  # the shell would announce the death of its job
killed_at=$(date +%s%N)
gate D --ttl 5s --on-busy wait
GATE_D=$GATE
must "D did not take over" wait_until 60 runs D
cat "$STAGE/D.log"
printf 'taken over %d ms after the kill\n' $((($(date +%s%N) - killed_at) / 1000000))
must "D's token is not higher than C's" [ "$(fence D)" -gt "$(fence C)" ]

tell "5. What the store knows:"
show "cronlatch ls"
"$BINARY" ls | tee "$STAGE/ls.log"
must "ls does not show D as the holder" said ls 'reports/nightly.*D'
touch "$STAGE/D.end"
must "D failed" wait "$GATE_D"
show "cronlatch metrics | grep -E '^cronlatch_lock_(acquired|released|stolen|open)'"
"$BINARY" metrics >"$STAGE/metrics.log"
grep -E '^cronlatch_lock_(acquired|released|stolen|open)(_total)?\{' "$STAGE/metrics.log"
must "the steal was not counted once" [ "$(count cronlatch_lock_stolen_total)" = 1 ]
must "not three grants" [ "$(count cronlatch_lock_acquired_total)" = 3 ]
must "not two releases" [ "$(count cronlatch_lock_released_total)" = 2 ]

tell "6. A Prometheus reads the same, from the textfile collector of a node exporter:"
show "cronlatch metrics >textfiles/cronlatch.prom"
mkdir "$STAGE/textfiles"
cp "$STAGE/metrics.log" "$STAGE/textfiles/cronlatch.prom"
must "no Prometheus scrapes it" start_prometheus "$STAGE/prometheus" "$STAGE/textfiles"
counted() {  # counted NAME: the sum over all locks, by PromQL
  local answer
  answer=$(prometheus_says "sum(cronlatch_lock_$1)") && answer=${answer#*=> } && echo "${answer%% *}"
}
for one in "acquired_total 3" "released_total 2" "stolen_total 1" "open 0"; do
  show "promtool query instant \$PROMETHEUS 'sum(cronlatch_lock_${one% *})'   # ${one#* }"
  must "Prometheus counts $(counted "${one% *}"), not $one" [ "$(counted "${one% *}")" = "${one#* }" ]
done

tell "The story holds: 3 grants = 2 released + 1 stolen, nothing open, one skip. Redis is stopped, its files are gone."
