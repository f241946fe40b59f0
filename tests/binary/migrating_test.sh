#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The pages docs/migrating/*.md, as they are written: each crontab line and each shell block runs in a mount and network
# namespace with its own /usr/local/bin, /run, and a Redis at redis.example:6379. The lines before, between and after exclude
# each other, in both directions. lockrun, cronlock, golock and redlock are doubles that lock as those programs do.
set -uo pipefail
if [ "${1:-}" != inside ]; then
  if ! unshare --map-root-user --mount --net true 2>/dev/null; then
    echo "skip  migrating: the commands of the pages (needs root, or user namespaces)"
    exit 0
  fi
  exec unshare --map-root-user --mount --net bash "$0" inside
fi
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

PAGES=$ROOT/docs/migrating
PATIENCE=30
shopt -s nullglob
work=$(mktemp -d)
# The server is a child of the shell of a check.
trap 'kill $(jobs -p) $(cat "$work/redis.pid" 2>/dev/null) 2>/dev/null; wait; rm -rf -- "$work"' EXIT

# eventually COMMAND...: waits until the command succeeds.
eventually() {
  local end=$((SECONDS + PATIENCE))
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.02
  done
}

make_host() {
  cp -- "$BINARY" "$work/cronlatch" || return
  mount -t tmpfs none /run && mount -t tmpfs none /usr/local/bin || return
  mkdir -p /run/lock && cp -- "$work/cronlatch" /usr/local/bin/cronlatch || return
  mkdir -p "$work/lock" && mount --bind "$work/lock" "$(realpath -m /var/lock)" || return
  printf '127.0.0.1 localhost redis.example\n' >"$work/hosts"
  mount --bind "$work/hosts" /etc/hosts || return
  python3 -c 'import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh22x", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: up, running' || return
  redis-server --bind 127.0.0.1 --port 6379 --save '' --dir "$work" --logfile "$work/redis.log" >/dev/null 2>&1 &
  echo $! >"$work/redis.pid"
  eventually answers_ping
}
answers_ping() { [ "$(redis-cli -h redis.example ping 2>/dev/null)" = PONG ]; }

# The job of each page. With /run/block, it runs until /run/go exists.
cat >"$work/report" <<'JOB'
#!/bin/sh
echo "$*" >>/run/ran
[ ! -e /run/block ] || until [ -e /run/go ]; do sleep 0.02; done
JOB

# Exclusive flock(2) on the file, which the command does not inherit; 1 when it is locked.
cat >"$work/lockrun" <<'DOUBLE'
#!/bin/bash
for word; do
  shift
  case $word in --lockfile=*) exec 9>>"${word#*=}" ;; --) break ;; esac
done
flock -n 9 || { echo "ERROR: cannot launch $1 - run is locked" >&2; exit 1; }
"$@" 9>&-
DOUBLE

install_programs() {
  local program
  for program in "$work"/{report,lockrun} "$ROOT"/tests/doubles/*; do install -m 0755 "$program" /usr/local/bin/ || return; done
}

# blocks PAGE: one file for each crontab line (NUMBER.crontab) and each shell block (NUMBER.sh) in $work/PAGE, and the heading
# above it in NUMBER.heading.
blocks() {
  mkdir -p "$work/$1.d"
  awk -v dir="$work/$1.d" '
    /^## / { heading = substr($0, 4) }
    /^```(sh|crontab)$/ { kind = substr($0, 4); if (kind == "sh") number++; next }
    /^```/ { kind = ""; next }
    kind == "crontab" { number++; sub(/^[^ ]+ [^ ]+ [^ ]+ [^ ]+ [^ ]+ /, "") }
    kind != "" { file = dir "/" number; print > (file "." kind); print heading > (file ".heading") }
  ' "$PAGES/$1.md"
}

clean() {
  rm -f /run/ran /run/block /run/go
  redis-cli -h redis.example FLUSHALL >/dev/null
}
count_runs() { [ -e /run/ran ] && wc -l </run/ran || echo 0; }
has_run() { [ "$(count_runs)" -ge "${1:-1}" ]; }
has_run_or_ended() { has_run "${2:-1}" || ! kill -0 "$1" 2>/dev/null; }  # has_run_or_ended PID [RUNS]

# runs_once FILE: a crontab line or a block succeeds; a crontab line runs the job once.
runs_once() {
  clean
  sh -eu "$1" </dev/null || return
  [ "${1##*.}" = sh ] || [ "$(count_runs)" = 1 ]
}

# slots_of FILE: how many runs of the line may hold the lock at once.
slots_of() {
  local slots
  slots=$(sed -nE 's/.*--slots ([0-9]+).*/\1/p' "$1" | head -n 1)
  echo "${slots:-1}"
}

# exclude FIRST SECOND: while the first line runs the job, in each of its slots, the second line does not start it.
exclude() {
  local first slots pids=()
  clean
  touch /run/block
  slots=$(slots_of "$1")
  while [ "${#pids[@]}" -lt "$slots" ]; do
    sh "$1" </dev/null &
    first=$!
    pids+=("$first")
    if ! { eventually has_run_or_ended "$first" "${#pids[@]}" && has_run "${#pids[@]}"; }; then
      touch /run/go
      kill "${pids[@]}" 2>/dev/null
      wait "${pids[@]}"
      return 1
    fi
  done
  rm /run/block
  sh "$2" </dev/null
  local seen
  seen=$(count_runs)
  touch /run/go
  for first in "${pids[@]}"; do wait "$first" || return; done
  echo "the job ran $seen times"
  [ "$seen" = "$slots" ]
}

# lines PAGE HEADING: the crontab lines below that heading.
lines() {
  local heading
  for heading in "$work/$1.d"/*.heading; do
    [ "$(sort -u "$heading")" = "$2" ] && [ -e "${heading%.heading}.crontab" ] && echo "${heading%.heading}.crontab"
  done
}

check "a host with its own /run and Redis is created" make_host
check "the programs are installed" install_programs
[ "$FAILED" = 0 ] || finish

for page in "$PAGES"/*.md; do
  page=$(basename -- "$page" .md)
  blocks "$page"
  for first in Before Between After; do
    for second in Before Between After; do
      for one in $(lines "$page" $first); do
        for other in $(lines "$page" $second); do
          # A library's lock is in the program.
          case $page:$first:$second in
            libraries:*Before* | redis-semaphore:*Before*) continue ;;
          esac
          check "$page: the line of $first excludes that of $second" exclude "$one" "$other"
        done
      done
    done
  done
  for file in "$work/$page.d"/*.crontab "$work/$page.d"/*.sh; do
    check "$page: $(head -c 90 "$file" | head -n 1)" runs_once "$file"
  done
done

# The page of redlock has the lock of a library in its program.
library='redlock redis.example:6379 locks:report /usr/local/bin/report --nightly'
echo "$library" >"$work/library"
check "redlock: the line of After excludes a library" exclude "$(lines redlock After)" "$work/library"
check "redlock: a library excludes the line of After" exclude "$work/library" "$(lines redlock After)"
sed 's/locks:report/locks:other/' "$work/library" >"$work/other"
refuses "control: a library with another key is not excluded" exclude "$(lines redlock After)" "$work/other"

for line in $(lines cronlock Before); do
  check "cronlock: the native line excludes that of Before" exclude "$(lines cronlock "Without a gap")" "$line"
  check "cronlock: the line of Before excludes the native one" exclude "$line" "$(lines cronlock "Without a gap")"
done

# Control: two lines without a common lock do not exclude each other.
echo 'cronlatch run --lock-file /var/lock/one -- /usr/local/bin/report' >"$work/one"
echo 'cronlatch run --lock-file /var/lock/two -- /usr/local/bin/report' >"$work/two"
refuses "control: lines with two files do not exclude each other" exclude "$work/one" "$work/two"
clean
cronlatch as lockrun --explain --lockfile=/var/lock/report --wait --retries=7 -- /usr/local/bin/report >"$work/explained"
check "lockrun: the page contains the line that --explain prints" grep -qFxf "$work/explained" "$PAGES/lockrun.md"
CRONLOCK_HOST=redis.example CRONLOCK_KEY=report cronlatch as cronlock --explain /usr/local/bin/report --nightly >"$work/explained"
check "cronlock: the page contains the line that --explain prints" grep -qFxf "$work/explained" "$PAGES/cronlock.md"
# A link in the place of the script, as on the page, with the program in another directory.
mkdir -p "$work/old" && ln -s /usr/local/bin/cronlatch "$work/old/cronlock"
echo 'CRONLOCK_HOST=of-the-script' >"$work/old/cronlock.conf"
(PATH=$work/old:$PATH && cronlock --explain true) >"$work/explained"
check "cronlock: a link in the place of the script reads the script's configuration" grep -qF redis://of-the-script:6379 "$work/explained"
CRONLOCK_HOST=redis.example cronlatch as golock --explain /usr/local/bin/report --nightly >"$work/explained"
check "golock: the page contains the line that --explain prints" grep -qFxf "$work/explained" "$PAGES/golock.md"
finish
