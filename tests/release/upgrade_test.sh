#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A host is upgraded from version 0.1.0 to the deb, and back, while runs hold their locks: in a new root of Debian, with the file
# store and with a Redis. Nothing is lost: holder, exclusion, fence, done mark, statistics. Version 0.1.0 had no deb: the
# one here contains its program alone. tests/binary/mixed_fleet_test.sh compares the two programs in more detail.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../binary/lib.sh"
# shellcheck source=tests/release/roots.sh
source "$ROOT/tests/release/roots.sh"

require_roots "an upgrade from 0.1.0" debootstrap cpack unshare redis-server jq
enter_namespaces
# shellcheck source=tests/release/artifacts.sh
source "$ROOT/tests/release/artifacts.sh"
OLD=$(bash "$ROOT/scripts/baseline.sh" binary 2>"$STAGE/baseline.log") || { skip "an upgrade from 0.1.0" "$(tail -n 1 "$STAGE/baseline.log")" && exit 0; }
packed_root debian-12 || { skip "an upgrade from 0.1.0" "debian-12: $WHY" && exit 0; }
if ! find_artifacts >"$STAGE/artifacts.log" 2>&1; then
  fail "the deb is there"
  cat "$STAGE/artifacts.log"
  finish
fi

HERE=$STAGE/root
unpack_root debian-12 "$HERE"
mkdir "$HERE/runs"
old_deb() {  # sorts before the version of the source, also while that is still 0.1.0
  install -D -m 755 "$OLD" "$STAGE/old/usr/bin/cronlatch"
  install -d "$STAGE/old/DEBIAN"
  printf '%s\n' 'Package: cronlatch' 'Version: 0.1.0~baseline' 'Architecture: amd64' 'Maintainer: test <test@example.invalid>' 'Description: version 0.1.0' >"$STAGE/old/DEBIAN/control"
  dpkg-deb --root-owner-group --build "$STAGE/old" "$HERE/runs/old.deb"
}
start_redis "$STAGE/redis" --appendonly yes --appendfsync always --maxmemory-policy noeviction || exit 1

inside() {
  env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive CRONLATCH_STORE="${STORE:-}" chroot "$HERE" "$@"
}
install_deb() { unshare --net env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive chroot "$HERE" apt-get install -q -y --allow-downgrades "/runs/$1"; }
# shellcheck disable=SC2016  # dpkg-query expands it
installed_is() { [ "$(inside dpkg-query -W -f '${Version}' cronlatch)" = "$1" ] && cmp "$HERE/usr/bin/cronlatch" "$2"; }

# holder NAME LOCK [OPTION...]: a run that holds the lock until work/NAME.end exists. Later its exit code is in NAME.code.
holder() {
  local name=$1 lock=$2
  shift 2
  (
    # shellcheck disable=SC2016  # the inner shell expands it
    inside setsid sh -c 'name=$1; shift; echo $$ >/runs/$name.pid && exec "$@"' - "$name" cronlatch run --lock "$lock" --job host/a \
      --outcome-file "/runs/$name.json" "$@" -- sh -c "echo \$\$ >/runs/$name.command; touch /runs/$name.began; until [ -e /runs/$name.end ]; do sleep 0.05; done"
    echo $? >"$HERE/runs/$name.code"
  ) >"$HERE/runs/$name.log" 2>&1 &
  wait_until 30 [ -e "$HERE/runs/$name.began" ] || { cat "$HERE/runs/$name.log" && return 1; }
}
ends() {  # ends NAME: with 0, and as a run
  touch "$HERE/runs/$1.end"
  wait_until 30 [ -s "$HERE/runs/$1.code" ] && [ "$(cat "$HERE/runs/$1.code")" = 0 ] && outcome_is "$1" ran && return
  cat "$HERE/runs/$1.log" "$HERE/runs/$1.code"
  return 1
}
outcome_is() { [ "$(jq -r .outcome "$HERE/runs/$1.json")" = "$2" ] || { cat "$HERE/runs/$1.json" && return 1; }; }
other() {  # other LOCK [OPTION...]: a second run
  local lock=$1
  shift
  rm -f "$HERE/runs/other.ran" "$HERE/runs/other.json"
  inside timeout 60 cronlatch run --lock "$lock" --job host/b --outcome-file /runs/other.json "$@" -- touch /runs/other.ran
}
skips() { other "$1" && [ ! -e "$HERE/runs/other.ran" ] && outcome_is other skipped; }
runs() { other "$@" && [ -e "$HERE/runs/other.ran" ] && outcome_is other ran; }
still_holds() {  # still_holds NAME LOCK: the command runs, and the installed program lists the run
  [ ! -e "$HERE/runs/$1.code" ] && kill -0 "$(cat "$HERE/runs/$1.command")" || return
  inside cronlatch show "$2" -o json | jq -e --arg pid ":$(cat "$HERE/runs/$1.pid"):" '.state == "held" and (.holder | contains($pid))'
}
counters() { inside cronlatch show "$1" -o json | jq -cS '.counters | {acquired, released, skipped_held, stolen, revoked, lost}'; }
counters_are() { [ "$(counters "$1")" = "$2" ] || { echo "$(counters "$1"), not $2" && return 1; }; }
fence() { jq -r .fence "$HERE/runs/$1.json"; }
fence_above() { [ "$(fence "$2")" -gt "$1" ] || { fence "$2" && return 1; }; }
already_done() { inside timeout 60 cronlatch run --lock marked --job host/a --once-per day -- touch /runs/again && [ ! -e "$HERE/runs/again" ]; }
marks() { inside cronlatch run --lock marked --job host/a --once-per day -- true; }
all_ended() { local pid; for pid; do ! kill -0 "$pid" 2>/dev/null || return; done; }
killed_tree_ends() {  # killed_tree_ends NAME: the wrapper is killed; its guardian kills the command
  local command
  command=$(cat "$HERE/runs/$1.command")
  kill -9 "$(cat "$HERE/runs/$1.pid")" && wait_until 10 all_ended "$command"
}

# change TITLE DEB VERSION PROGRAM: the package is replaced while a run holds `night` and another `crashed`.
change() {
  local title=$1 deb=$2 version=$3 program=$4 name=$5 before fence
  check "$title: a run holds its lock" holder "$name" night
  check "$title: another run holds its lock" holder "$name-killed" crashed --ttl 5s
  check "$title: a run is done for today" marks
  before=$(counters night)
  check "$title: apt replaces the package" install_deb "$deb"
  check "$title: the other program is installed" installed_is "$version" "$program"
  check "$title: the run still holds its lock" still_holds "$name" night
  check "$title: the statistics are the same" counters_are night "$before"
  check "$title: a new run is skipped" skips night
  check "$title: the skip is counted" counters_are night "$(jq -cS '.skipped_held += 1' <<<"$before")"
  check "$title: a run that is done for today is not repeated" already_done
  check "$title: the command of a killed wrapper ends" killed_tree_ends "$name-killed"
  check "$title: a new run acquires that lock" runs crashed --on-busy wait --wait-timeout 40s
  check "$title: the holder ends, and releases its lock" ends "$name"
  fence=$(fence "$name")
  check "$title: a new run acquires it" runs night
  check "$title: its fence is higher" fence_above "$fence" other
  check "$title: every grant is counted" counters_are night "$(jq -cS '.skipped_held += 1 | .acquired += 1 | .released += 2' <<<"$before")"
}

check "a deb of version 0.1.0 is packed" old_deb
cp "$DEB" "$HERE/runs/new.deb"
dpkg-deb --fsys-tarfile "$DEB" | tar -xO ./usr/bin/cronlatch >"$STAGE/new"
for STORE in file:///runs/locks "redis://127.0.0.1:$REDIS_PORT"; do
  store=${STORE%%:*}
  check "$store: version 0.1.0 is installed" install_deb old.deb
  change "$store, upgrade" new.deb "$VERSION" "$STAGE/new" "$store-up"
  change "$store, back" old.deb 0.1.0~baseline "$OLD" "$store-back"
done
stolen_twice() { [ "$(counters crashed | jq .stolen)" = 2 ] || { counters crashed && return 1; }; }
check "redis: both killed runs are counted as stolen" stolen_twice
check "the package is removed" unshare --net chroot "$HERE" apt-get remove -q -y cronlatch
stop_all_redis
finish
