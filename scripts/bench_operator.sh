# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Functions for the measurements of the operator: settings and certificate, start, memory, and load. Sourced by
# scripts/bench_*.sh.

OPERATOR=${OPERATOR:-}  # another program to measure; empty: the operator built from this source tree

build_operator() {
  [ -z "$OPERATOR" ] || return 0
  build_preset operator
  OPERATOR=$ROOT/build/operator/cronlatch-operator
}

# operator_files DIR LINE...: DIR/operator.yaml with these settings, and the certificate that it names.
operator_files() {
  local dir=$1
  shift
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=bench \
    -keyout "$dir/tls.key" -out "$dir/tls.crt" 2>/dev/null
  printf '%s\n' "image: cronlatch.test/cronlatch:dev" "certificate-mode: files" "certificate-dir: $dir" "$@" >"$dir/operator.yaml"
}

# start_operator DIR EVENT: starts it in the background with its log in DIR/log; returns when the log contains EVENT.
# Sets PID.
start_operator() {
  "$OPERATOR" --config "$1/operator.yaml" 2>"$1/log" &
  PID=$!
  wait_until 30 grep -q "\"event\":\"$2\"" "$1/log" || {
    cat "$1/log" >&2
    return 1
  }
}
port_of() { sed -nE "s/.*\"$1_port\":\"([0-9]+)\".*/\\1/p" "$STAGE/log"; }  # admission or plain

memory() { sed -nE "s/^$1:[[:space:]]*([0-9]+) kB\$/\\1/p" "/proc/$PID/status"; }
resident() { memory VmRSS; }
peak() { memory VmHWM; }

build_load() {
  OUT=$ROOT/build/bench
  mkdir -p "$OUT"
  g++ -std=c++20 -O2 -Wall -Wextra -Wconversion -Wshadow -Werror -pthread -o "$OUT/admission_load" \
    "$ROOT/bench/admission_load.cc" -lssl -lcrypto
}
# load WORD...: sends requests to the operator at PORT and prints one line of figures (bench/admission_load.cc).
load() { "$OUT/admission_load" port="$PORT" pid="$PID" "$@"; }
# median FIELD FILE
median() { sort -g -k"$1,$1" "$2" | awk -v f="$1" '{ v[NR] = $f } END { print v[int((NR + 1) / 2)] }'; }
wrong_answers() { cat "$@" | awk '{ sum += $2 } END { print sum + 0 }'; }
