#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev spec [NAME...]: checks docs/spec/lease.pml with spin. Its comments contain the checks, the variants and the
# witnesses; NAME selects some of them. One line per check: `ok` or `FAIL`. LONG_TESTS=1 also runs the long checks.
# build/spec/NAME contains the generated program, its output, and the trail of a counter-example.
#   ./dev spec trail NAME   prints the steps of that counter-example
set -uo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
MODEL=$ROOT/docs/spec/lease.pml
WORK=$ROOT/build/spec
MEMORY_MB=4000
BITSTATE_SECONDS=${SPEC_BITSTATE_SECONDS:-600}
# Most of the time is compiling: the same program again comes from ccache, where it is installed. The search always runs.
COMPILER=(gcc)
! command -v ccache >/dev/null || COMPILER=(ccache gcc)

rows() { sed -nE 's,^// +((CHECK|LONG|BITSTATE|VARIANT|WITNESS) [A-Za-z_]+ .*),\1,p' "$MODEL"; }

# A variant or witness is a macro; its name is upper case.
macro_of() { case $1 in VARIANT | WITNESS) echo "-D$2" ;; esac; }

# search KIND NAME OPTION...: generates, compiles and runs the search in build/spec/NAME; its file `out` has the result.
search() {
  local kind=$1 name=$2 folder=$WORK/$2 macro compile run limit=()
  shift 2
  macro=$(macro_of "$kind" "$name")
  # A search that ends with an error is short: compiling takes longer.
  case $kind in
    VARIANT | WITNESS) compile=(-O0) run=(-m100000 -w20) ;;
    BITSTATE) compile=(-O2 -DBITSTATE) run=(-m100000 -w32 -k3) ;;
    *) compile=(-O1) run=(-m100000 -w24) ;;
  esac
  rm -rf -- "$folder" && mkdir -p "$folder" && cd "$folder" || return
  printf '%s\n' "$kind" "$macro" "$@" >options
  spin ${macro:+"$macro"} "$@" -a "$MODEL" >out 2>&1 || return
  "${COMPILER[@]}" -w -DSAFETY -DNOREDUCE -DMEMLIM="$MEMORY_MB" "${compile[@]}" -c pan.c >out 2>&1 || return
  gcc -o pan pan.o >out 2>&1 || return
  # A bitstate search ends after this time, and then has searched a part.
  [ "$kind" != BITSTATE ] || limit=(timeout -s INT "$BITSTATE_SECONDS")
  "${limit[@]}" ./pan "${run[@]}" >out 2>&1
}

# found_nothing KIND FILE: no error, and the whole bounded state space was searched, except by a bitstate search.
found_nothing() {
  grep -q 'errors: 0$' "$2" && ! grep -qE 'max search depth too small|out of memory|violated' "$2" || return
  [ "$1" = BITSTATE ] || ! grep -q 'Search not completed' "$2"
}

judge() {  # judge KIND NAME PROPERTY OPTION...
  local kind=$1 name=$2 property=$3 out=$WORK/$2/out start=$SECONDS count
  shift 3
  search "$kind" "$name" "$@"
  count=$(sed -nE 's/^ *([0-9.e+]+) states, stored.*/\1/p' "$out" | head -n 1)
  case $kind in
    VARIANT | WITNESS)
      if grep -q "assertion violated $property " "$out"; then
        echo "ok    spec: $name violates $property (${count:-0} states, $((SECONDS - start)) s)"
        return
      fi
      echo "FAIL  spec: $name does not violate $property"
      ;;
    *)
      if found_nothing "$kind" "$out"; then
        echo "ok    spec: $name finds no error (${count:-0} states, $((SECONDS - start)) s)"
        return
      fi
      echo "FAIL  spec: $name finds an error, or did not end"
      ;;
  esac
  sed 's/^/      | /' "$out" | head -n 20
  return 1
}

trail() {
  local options
  if [ ! -e "$WORK/$1/lease.pml.trail" ]; then
    echo "./dev spec: build/spec/$1 contains no counter-example" >&2
    return 66
  fi
  mapfile -t options < <(tail -n +2 "$WORK/$1/options" | grep .)
  spin "${options[@]}" -k "$WORK/$1/lease.pml.trail" -p -g "$MODEL"
}

if ! command -v spin >/dev/null || ! command -v gcc >/dev/null; then
  echo "skip  spec: everything (spin or gcc not found; ./dev installs them)"
  exit 77
fi
case ${1:-} in
  trail)
    trail "${2:?./dev spec trail NAME}"
    exit
    ;;
esac

status=0 judged=0
while read -r kind name property options; do
  if [ $# -gt 0 ]; then
    [[ " $* " == *" $name "* ]] || continue
  elif [[ $kind =~ ^(LONG|BITSTATE)$ ]] && [ -z "${LONG_TESTS:-}" ]; then
    continue
  fi
  read -ra options <<<"$options"
  judge "$kind" "$name" "$property" "${options[@]}" || status=1
  judged=$((judged + 1))
done < <(rows)
if [ $judged -eq 0 ]; then
  echo "FAIL  spec: no check has one of these names: $*"
  status=1
fi
exit $status
