#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The packages in new roots of other distributions, without a network: they install, the programs run, manual page and
# completion work, and a removal leaves nothing. One root is busybox alone, without any C library. DIST=FOLDER tests the files
# of a release.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../binary/lib.sh"
# shellcheck source=tests/release/roots.sh
source "$ROOT/tests/release/roots.sh"

require_roots "packages in other distributions" debootstrap busybox cpack unshare
enter_namespaces
# shellcheck source=tests/release/artifacts.sh
source "$ROOT/tests/release/artifacts.sh"

# The root under test is $HERE. Commands in it have no network.
inside() {
  unshare --net env -i HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    chroot "$HERE" "$@"
}

# Every file, except the records and caches of dpkg, apt and man-db: those are checked separately.
files_of_root() {
  (cd "$HERE" && find . -path ./proc -prune -o \
    ! -path './var/lib/dpkg/*' ! -path './var/log/*' ! -path './var/cache/*' ! -path './var/lib/apt/*' -print | sort)
}
remember() { files_of_root >"$STAGE/before"; }
nothing_left() { diff "$STAGE/before" <(files_of_root); }

version_is() { [ "$(inside cronlatch version)" = "cronlatch $VERSION" ]; }
# Two runs at once, in a store in a folder: the second starts when the command of the first runs, and is skipped.
# shellcheck disable=SC2016  # the shell in the root expands it
TWO_RUNS='
  rm -rf /tmp/two && mkdir /tmp/two && cd /tmp/two || exit
  run() { name=$1; shift; cronlatch run --store file:///tmp/two/locks --lock nightly --outcome-file /tmp/two/$name.json -- "$@" 2>>/tmp/two/log; }
  run first sh -c "touch began; n=0; until [ -e end ] || [ \$n -gt 300 ]; do sleep 0.1; n=\$((n + 1)); done; echo first >>ran" &
  n=0; until [ -e began ] || [ $n -gt 300 ]; do sleep 0.1; n=$((n + 1)); done
  run second sh -c "echo second >>ran"; second=$?
  touch end
  wait $!; first=$?
  cat log ran
  [ $first = 0 ] && [ $second = 0 ] && [ "$(cat ran)" = first ] || exit 1
  grep -q "\"outcome\": *\"ran\"" first.json && grep -q "\"outcome\": *\"skipped\"" second.json || { cat ./*.json; exit 1; }
  run third sh -c "echo third >>ran" && [ "$(tail -n 1 ran)" = third ]
'
two_runs() { inside sh -c "$TWO_RUNS" && rm -rf "$HERE/tmp/two"; }
# As in the file ~/.bashrc of these distributions: bash loads the completion of a command at the first Tab after it.
# shellcheck disable=SC2016  # the shell in the root expands it
COMPLETE='
  . /usr/share/bash-completion/bash_completion
  ! complete -p cronlatch 2>/dev/null || exit 1
  loader=$(complete -p -D | sed "s/.* -F \([^ ]*\) .*/\1/")
  COMP_WORDS=(cronlatch ru) COMP_CWORD=1 COMP_LINE="cronlatch ru" COMP_POINT=12
  "$loader" cronlatch ru cronlatch
  complete -p cronlatch || exit 1
  function=$(complete -p cronlatch | sed "s/.* -F \([^ ]*\) .*/\1/")
  "$function" cronlatch ru cronlatch
  echo "${COMPREPLY[@]}" && [[ " ${COMPREPLY[*]} " =~ " run " ]]
'
completes() { inside bash -c "$COMPLETE"; }
page_is() { [ "$(inside man -w cronlatch)" = /usr/share/man/man1/cronlatch.1.gz ]; }
page_is_displayed() { inside sh -c 'MANPAGER=cat man cronlatch 2>&1' | grep -F -e --on-busy; }
recorded() { inside dpkg-query -W cronlatch || (cd "$HERE/var/lib/dpkg/info" && ls cronlatch.*) || grep -x 'Package: cronlatch' "$HERE/var/lib/dpkg/status"; }

# uses SUBJECT: what every root must do.
uses() {
  check "$1: the program has its version" version_is
  check "$1: of two runs at once, one runs and one is skipped" two_runs
  check "$1: cronlatch demo succeeds" inside cronlatch demo
  check "$1: the plugin runs" inside kubectl-cronlatch help
}

with_deb() {
  local name=$1
  HERE=$STAGE/$name
  packed_root "$name" || { skip "$name" "$WHY" && return; }
  unpack_root "$name" "$HERE"
  remember
  install -D -m 644 -t "$HERE/srv" "$DEB"
  check "$name: apt installs the deb" inside apt-get install -q -y "/srv/${DEB##*/}"
  rm "$HERE/srv/${DEB##*/}"
  refuses "control: $name: the files of the package are found" nothing_left
  uses "$name"
  check "$name: bash completes the command" completes
  check "$name: man finds the page" page_is
  check "$name: man displays it" page_is_displayed
  check "$name: apt removes the package" inside apt-get remove -q -y cronlatch
  check "$name: no file is left" nothing_left
  refuses "$name: dpkg has no record of it" recorded
  refuses "$name: man does not find the page" inside man -w cronlatch
  remove_root "$HERE"
}

no_c_library() { [ -z "$(find "$HERE" -xdev \( -name 'ld-*' -o -name '*.so*' \) -print -quit)" ]; }
unpacks() { inside tar -C /usr/local -xzf - <"$TARBALL"; }
has_files() {
  local file
  for file in bin/cronlatch share/man/man1/cronlatch.1.gz share/bash-completion/completions/cronlatch; do [ -s "$HERE/usr/local/$file" ] || { echo "$file" && return 1; }; done
}
# shellcheck disable=SC2016  # the shell in the root expands it
deletes() { inside sh -c 'cd /usr/local && tar -tzf - | sort -r | while read -r file; do if [ -d "$file" ]; then rmdir "$file" 2>/dev/null; else rm "$file"; fi; done; true' <"$TARBALL"; }

with_tarball() {
  HERE=$STAGE/busybox
  busybox_root "$HERE"
  remember
  check "busybox: the root has no C library" no_c_library
  check "busybox: its tar unpacks the archive" unpacks
  refuses "control: busybox: the unpacked files are found" nothing_left
  check "busybox: programs, manual page and completion are there" has_files
  uses busybox
  check "busybox: the listed files are deleted" deletes
  check "busybox: no file is left" nothing_left
  remove_root "$HERE"
}

if ! find_artifacts >"$STAGE/artifacts.log" 2>&1; then
  fail "deb and archive are there"
  cat "$STAGE/artifacts.log"
  finish
fi
for name in debian-12 debian-13 ubuntu-24.04; do with_deb "$name"; done
with_tarball
# release_test.sh installs the rpm into an empty root.
skip "the rpm in a root of an rpm distribution" "no mirror of such a distribution is reachable"
finish
