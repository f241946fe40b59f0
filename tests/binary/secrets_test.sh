#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A known password is set in every possible way, and many runs fail. It must not be in any output, log, outcome file,
# metrics file or argument list, nor in the environment of the command.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

STAGE=$(mktemp -d)
SEEN=$STAGE/seen
CANARY=canary-$RANDOM-$RANDOM-$RANDOM
trap 'stop_all_redis; rm -rf -- "$STAGE"' EXIT
mkdir "$SEEN"

canary_not_found() { ! grep -rlF -- "$CANARY" "${1:-$SEEN}"; }

# try NAME CODES COMMAND...: runs the program with the exported variables and keeps its output; the exit code must be one
# of CODES.
try() {
  local name=$1 codes=$2 code=0
  shift 2
  timeout 60 "$BINARY" "$@" >"$SEEN/$name.out" 2>&1 </dev/null || code=$?
  check "$name: the exit code is ${codes// / or }" eval "case ' $codes ' in *' $code '*) ;; *) echo 'exit code $code'; cat '$SEEN/$name.out'; false ;; esac"
}
# gate NAME CODES [OPTION...]: `run` with every file that it can write.
gate() {
  local name=$1 codes=$2
  shift 2
  # shellcheck disable=SC2016
  try "$name" "$codes" run --lock canary --outcome-file "$SEEN/$name.outcome" --metrics-file "$SEEN/$name.prom" \
    "$@" -- sh -c 'tr "\0" "\n" </proc/self/environ; tr "\0" " " </proc/self/cmdline; tr "\0" " " </proc/$PPID/cmdline'
}

make_certificates "$STAGE/tls"
make_certificates "$STAGE/other"
start_redis "$STAGE/redis" --tls-cert-file "$STAGE/tls/server.pem" --tls-key-file "$STAGE/tls/server.key" \
  --tls-ca-cert-file "$STAGE/tls/ca.pem" --tls-auth-clients no --user default off \
  --user cron on ">right-$CANARY" '~cronlatch:*' '&*' +@all
tls_port=$REDIS_PORT
# The error of a server without the command HELLO contains the arguments that it received.
start_redis "$STAGE/echo" --rename-command HELLO '' --requirepass "right-$CANARY"
echo_port=$REDIS_PORT
unused_port=$(free_port)

export CRONLATCH_TLS_CA=$STAGE/tls/ca.pem CRONLATCH_LOG_LEVEL=debug
export CRONLATCH_STORE=rediss://cron@127.0.0.1:$tls_port
for format in text json logfmt; do
  export CRONLATCH_LOG_FORMAT=$format
  export CRONLATCH_PASSWORD=right-$CANARY
  gate "$format-right-password-in-the-environment" 0
  for word in ls 'show canary' metrics config 'explain --lock canary -- true'; do
    # shellcheck disable=SC2086
    try "$format-${word// /-}" 0 $word
  done
  export CRONLATCH_PASSWORD=wrong-$CANARY
  gate "$format-wrong-password-in-the-environment" 77
  try "$format-ls-with-a-wrong-password" 77 ls
  unset CRONLATCH_PASSWORD
  printf '%s\n' "wrong-$CANARY" >"$STAGE/password"
  gate "$format-wrong-password-in-a-file" 77 --password-file "$STAGE/password"
  printf '%s\n' "right-$CANARY" >"$STAGE/password"
  gate "$format-right-password-in-a-file" 0 --password-file "$STAGE/password"
  gate "$format-right-password-in-a-pipe" 0 --password-file <(sleep 0.2 && cat "$STAGE/password")
  export CRONLATCH_PASSWORD=right-$CANARY
  gate "$format-another-CA" 77 --tls-ca "$STAGE/other/ca.pem"
  CRONLATCH_STORE=rediss://cron@127.0.0.1:$unused_port gate "$format-an-unused-port" 69
  unset CRONLATCH_TLS_CA
  CRONLATCH_STORE=redis://cron@127.0.0.1:$tls_port gate "$format-plaintext-to-a-TLS-port" "69 77"
  CRONLATCH_STORE=redis://127.0.0.1:$echo_port gate "$format-a-server-that-returns-the-arguments" 78
  CRONLATCH_STORE=redis://user@127.0.0.1:$echo_port gate "$format-the-same-with-a-user" 78
  export CRONLATCH_TLS_CA=$STAGE/tls/ca.pem
  gate "$format-a-certificate-without-its-key" 78 --tls-cert "$STAGE/tls/client.pem"
  unset CRONLATCH_PASSWORD
  gate "$format-a-password-in-the-URL" "64 78" --store "rediss://cron:right-$CANARY@127.0.0.1:$tls_port"
  gate "$format-a-password-in-a-URL-that-is-wrong" "64 78" --store "rediss://cron:right-$CANARY@127.0.0.1:99999"
  gate "$format-a-password-as-a-flag" 64 "--password=right-$CANARY"
  printf 'password: %s\n' "right-$CANARY" >"$STAGE/cronlatch.yaml"
  gate "$format-a-password-in-YAML" 64 --config "$STAGE/cronlatch.yaml"
  printf 'store: redis://cron:%s@127.0.0.1:%s\n  bad: [\n' "right-$CANARY" "$tls_port" >"$STAGE/cronlatch.yaml"
  gate "$format-a-password-in-broken-YAML" "64 78" --config "$STAGE/cronlatch.yaml"
done

# Where a user types a password as an argument, the wrapper's argument list contains it; these commands do not run.
check "the password is not in any of $(find "$SEEN" -type f | wc -l) files of output" canary_not_found
mkdir "$STAGE/control"
echo "user cron, password right-$CANARY" >"$STAGE/control/out"
refuses "control: a printed password is found" canary_not_found "$STAGE/control"
check "control: the command printed its environment" grep -q '^CRONLATCH_FENCE=' "$SEEN/text-right-password-in-a-file.out"
finish
