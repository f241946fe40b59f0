# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Temporary Redis servers and their certificates, for the demo, the benchmark and the tests of the binary.
# All files are in a folder of the caller; servers are stopped by their process id. Sourced.

REDIS_PIDS=()

# make_certificates DIR [p256|rsa2048]: DIR/ca.pem, DIR/server.{pem,key} for localhost, 127.0.0.1 and the cluster-style
# name redis.test.svc.cluster.local, DIR/client.{pem,key}.
make_certificates() {
  local dir=$1 kind=${2:-p256} who algorithm
  case $kind in
    p256) algorithm=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1) ;;
    rsa2048) algorithm=(-newkey rsa:2048) ;;
  esac
  mkdir -p "$dir"
  {
    openssl req -x509 "${algorithm[@]}" -nodes -days 2 -subj "/CN=temporary CA" -keyout "$dir/ca.key" -out "$dir/ca.pem"
    for who in server client; do
      openssl req "${algorithm[@]}" -nodes -subj "/CN=$who" -keyout "$dir/$who.key" -out "$dir/$who.csr"
      openssl x509 -req -in "$dir/$who.csr" -CA "$dir/ca.pem" -CAkey "$dir/ca.key" -CAcreateserial -days 2 \
        -extfile <(printf 'subjectAltName=DNS:localhost,DNS:redis.test.svc.cluster.local,DNS:redis,IP:127.0.0.1') \
        -out "$dir/$who.pem"
    done
  } >"$dir/openssl.log" 2>&1 || { cat "$dir/openssl.log" >&2; return 1; }
}

# A free port below the range that the kernel uses for outgoing connections.
free_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 12000))
    if ! (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null; then
      echo "$port"
      return
    fi
  done
}

# The reply NOAUTH also shows that the server is running.
answers() {
  case $(redis-cli -s "$1" ping 2>&1) in
    PONG* | *NOAUTH*) return 0 ;;
    *) return 1 ;;
  esac
}
answers_or_is_gone() { answers "$1" || ! kill -0 "$2" 2>/dev/null; }

# start_redis DIR [REDIS-OPTION...]: starts a server on 127.0.0.1, and on DIR/redis.sock for redis-cli. Sets REDIS_PORT
# and REDIS_PID. With options for certificates, the port accepts TLS only.
start_redis() {
  local dir=$1 tries port_option=--port
  shift
  mkdir -p "$dir"
  case " $* " in *" --tls-cert-file "*) port_option="--tls-port" ;; esac
  for tries in 1 2 3 4 5; do
    REDIS_PORT=$(free_port)
    local plain=()
    [ $port_option = --port ] || plain=(--port 0)
    redis-server --bind 127.0.0.1 "${plain[@]}" $port_option "$REDIS_PORT" --unixsocket "$dir/redis.sock" --dir "$dir" \
      --save '' --appendonly no --daemonize no --loglevel warning "$@" >"$dir/redis.log" 2>&1 &
    REDIS_PID=$!
    if wait_until 30 answers_or_is_gone "$dir/redis.sock" "$REDIS_PID" && kill -0 "$REDIS_PID" 2>/dev/null; then
      REDIS_PIDS+=("$REDIS_PID")
      return 0
    fi
    kill "$REDIS_PID" 2>/dev/null || true
  done
  echo "redis-server did not start ($tries attempts); its log:" >&2
  cat "$dir/redis.log" >&2
  return 1
}

stop_all_redis() {
  local pid
  for pid in "${REDIS_PIDS[@]}"; do
    kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
  done
  REDIS_PIDS=()
}
