#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the released program in a root that contains only the program, a command, resolv.conf and a CA file. A second root
# also contains libraries, and a configuration that loads code from them. The program is the first process of a PID
# namespace, like the entrypoint of a container; /proc is missing. A separate network namespace keeps port 53 free.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../binary/lib.sh"
HERE=$ROOT/tests/static

if [ "${1:-}" != inside ]; then
  if [ "$(id -u)" -ne 0 ] || ! unshare --net --pid --fork true 2>/dev/null; then
    skip "runs in an empty root" "needs root, network and PID namespaces; run ./dev test as root"
    finish
  fi
  exec unshare --net bash "$0" inside
fi

STAGE=$(mktemp -d)
HELPERS=()
# shellcheck disable=SC2329
cleanup() {
  local pid
  for pid in "${HELPERS[@]}"; do kill "$pid" 2>/dev/null; done
  stop_all_redis
  rm -rf -- "$STAGE"
}
trap cleanup EXIT

compile() { g++ -std=c++20 -Os -static -s -o "$STAGE/$1" "$HERE/$1.cc" "${@:2}" >"$STAGE/$1.out" 2>&1; }
nameserver() {  # nameserver ADDRESS NAME
  "$STAGE/dns_responder" "$1" "$2" 127.0.0.1 >"$STAGE/dns-$1.log" 2>&1 &
  HELPERS+=($!)
  wait_until 30 grep -q ready "$STAGE/dns-$1.log"
}
make_root() {
  local root=$1
  mkdir -p "$root/etc"
  cp "$BINARY" "$root/cronlatch"
  cp "$STAGE/answer" "$STAGE/naive_client" "$root/"
  cp "$STAGE/tls/ca.pem" "$root/ca.pem"
  printf '%s\n' 'search test.svc.cluster.local svc.cluster.local cluster.local' "nameserver 127.0.0.54" \
    "nameserver 127.0.0.53" 'options ndots:5' >"$root/etc/resolv.conf"
}
# Adds modules of a C library for name resolution, and a configuration of OpenSSL that loads a provider.
add_libraries() {
  local root=$1 lib=/usr/lib/x86_64-linux-gnu
  mkdir -p "$root$lib/ossl-modules" "$root/usr/lib/ssl" "$root/usr/lib64"
  ln -s usr/lib "$root/lib"
  ln -s usr/lib64 "$root/lib64"
  cp -L $lib/libc.so.6 $lib/libresolv.so.2 $lib/libcrypto.so.3 $lib/libnss_*.so.* "$root$lib/"
  cp -L $lib/ossl-modules/*.so "$root$lib/ossl-modules/"
  cp -L /lib64/ld-linux-x86-64.so.2 "$root/usr/lib64/"
  echo 'hosts: hesiod mymachines resolve [!UNAVAIL=return] files dns myhostname' >"$root/etc/nsswitch.conf"
  printf '%s\n' 'openssl_conf = init' '[init]' 'providers = all' '[all]' 'default = on' 'legacy = on' '[on]' \
    'activate = 1' >"$root/usr/lib/ssl/openssl.cnf"
}

FIRST_PROCESS=(/usr/bin/unshare --pid --fork)
# gate ROOT HOST CODE [OPTION...]: runs /answer under the lock; its output is in $STAGE/out.
gate() {
  local code=0
  timeout 60 env -i CRONLATCH_STORE="rediss://$2:$REDIS_PORT" CRONLATCH_TLS_CA="${CA:-/ca.pem}" "${FIRST_PROCESS[@]}" \
    /usr/sbin/chroot "$1" /cronlatch run --lock proof "${@:4}" -- /answer "$3" >"$STAGE/out" 2>&1 || code=$?
  cat "$STAGE/out"
  echo "exit code $code"
  return "$code"
}
gate_ends_with() {  # ROOT HOST WANTED-CODE [ARGUMENT [OPTION...]]
  gate "$1" "$2" "${4:-$3}" "${@:5}"
  [ $? -eq "$3" ]
}
# A bare chroot has neither a /proc nor a separate PID namespace.
gate_in_chroot_ends_with() {
  local FIRST_PROCESS=()
  gate_ends_with "$@"
}
ran() { grep -q '^CRONLATCH_FENCE=[1-9]' "$STAGE/out"; }
did_not_run() { ! grep '^CRONLATCH_' "$STAGE/out"; }
# A time limit that finds a hang. It is not a measurement, because the machine may be busy.
within() {  # MILLISECONDS COMMAND...
  local begin limit=$1
  shift
  begin=$(date +%s%N)
  "$@" || return 1
  local took=$((($(date +%s%N) - begin) / 1000000))
  echo "took $took ms, at most $limit"
  [ "$took" -le "$limit" ]
}
# opened ROOT COMMAND...: the files that the command tries to open after its exec.
opened() {
  local root=$1
  shift
  env -i CRONLATCH_STORE="rediss://redis:$REDIS_PORT" CRONLATCH_TLS_CA=/ca.pem \
    strace -f -qq -e trace=%file -o "$STAGE/trace" "${FIRST_PROCESS[@]}" /usr/sbin/chroot "$root" "$@" >/dev/null 2>&1
  sed -n "\\:execve(\"$1\":,\$p" "$STAGE/trace" | grep -oE '"/[^"]+"' | sort -u
}
# A program that did not read resolv.conf has not run.
loads_no_code() { opened "$@" >"$STAGE/files" && cat "$STAGE/files" && grep -q '^"/etc/resolv.conf"' "$STAGE/files" &&
  ! grep -E '\.so|openssl\.cnf|libnss|ossl-modules|engines' "$STAGE/files"; }

ip link set lo up
if ! { compile answer && compile dns_responder && compile naive_client -l:libssl.a -l:libcrypto.a; }; then
  fail "the programs of this test compile"
  cat "$STAGE"/*.out
  finish
fi
make_certificates "$STAGE/tls"
make_certificates "$STAGE/other"
start_redis "$STAGE/redis" --tls-cert-file "$STAGE/tls/server.pem" --tls-key-file "$STAGE/tls/server.key" \
  --tls-ca-cert-file "$STAGE/tls/ca.pem" --tls-auth-clients no
nameserver 127.0.0.53 redis.test.svc.cluster.local || fail "the nameserver that answers starts"
nameserver 127.0.0.54 - || fail "the nameserver that does not answer starts"
make_root "$STAGE/empty"
make_root "$STAGE/with_libraries"
add_libraries "$STAGE/with_libraries"
cp "$STAGE/other/ca.pem" "$STAGE/empty/other.pem"
make_root "$STAGE/no_nameserver"
sed -i '/127.0.0.53/d' "$STAGE/no_nameserver/etc/resolv.conf"

check "resolves a short name through search domains, after a nameserver that does not answer, and returns the exit code" \
  within 30000 gate_ends_with "$STAGE/empty" redis 7
check "the command has run, with its fencing token" ran
check "resolves the dotted name under ndots:5" \
  within 30000 gate_ends_with "$STAGE/empty" redis.test.svc.cluster.local 8
check "resolves the name with a trailing dot" \
  within 30000 gate_ends_with "$STAGE/empty" redis.test.svc.cluster.local. 9
check "returns the exit code 0" gate_ends_with "$STAGE/empty" redis 0
check "an unknown name ends with 69 within the time limit" within 30000 gate_ends_with "$STAGE/empty" unknown 69 0
check "no command was started for an unknown name" did_not_run
check "nameservers that do not answer end with 69 within the time limit" within 30000 gate_ends_with "$STAGE/no_nameserver" redis 69 0
check "no command was started without a nameserver" did_not_run
CA=/other.pem check "a server of another CA is refused with 77" gate_ends_with "$STAGE/empty" redis 77 0
check "no command was started for a server of another CA" did_not_run
check "a bare chroot is refused with 78: descendants could outlive the lease" \
  gate_in_chroot_ends_with "$STAGE/empty" redis 78 0
check "no command was started in a bare chroot" did_not_run
check "a bare chroot is accepted with untracked=allow" \
  gate_in_chroot_ends_with "$STAGE/empty" redis 5 5 --untracked allow

check "loads no code in the empty root" loads_no_code "$STAGE/empty" /cronlatch run --lock proof -- /answer 0
check "a run in an image with NSS modules and OpenSSL providers returns the same" \
  within 30000 gate_ends_with "$STAGE/with_libraries" redis 7
check "loads no code from that image" loads_no_code "$STAGE/with_libraries" /cronlatch run --lock proof -- /answer 0
refuses "control: an ordinary static program loads code there" \
  loads_no_code "$STAGE/with_libraries" /naive_client
check "control: it loads NSS modules" grep -q 'libnss_.*\.so' "$STAGE/files"
check "control: it loads OpenSSL's providers" grep -q 'legacy\.so' "$STAGE/files"
finish
