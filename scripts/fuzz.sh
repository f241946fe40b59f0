#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev fuzz [TARGET] [SECONDS]: fuzzes one target, or all one after another, starting with the seeds in the repository.
# New inputs are written to build/fuzz/<target>/, findings to build/fuzz/find-<target>-*.
#   ./dev fuzz TARGET minimize     merges build/fuzz/<target>/ into tests/fuzz/corpus/<target>/, with minimal seeds
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

mapfile -t targets < <(find tests/fuzz -name '*_fuzz.cc' -printf '%f\n' | sed 's/_fuzz\.cc$//' | sort)
seconds=60
minimize=no
for word in "$@"; do
  case $word in
    minimize) minimize=yes ;;
    *[!0-9]*)
      if ! printf '%s\n' "${targets[@]}" | grep -qx -- "$word"; then
        echo "./dev fuzz: unknown target '$word'; the targets are: ${targets[*]}" >&2
        exit 64
      fi
      targets=("$word")
      ;;
    *) seconds=$word ;;
  esac
done

say "build the fuzz targets (asan)"
configure asan
cmake --build build/asan --parallel "$JOBS" --target "${targets[@]/#/fuzz_}" >&2

for target in "${targets[@]}"; do
  program=build/asan/tests/fuzz/fuzz_$target
  seeds=tests/fuzz/corpus/$target
  new=build/fuzz/$target
  dictionary=tests/fuzz/$target.dict
  mkdir -p "$seeds" "$new"
  options=(-max_len=4096 -timeout=5 -rss_limit_mb=1024 -artifact_prefix="build/fuzz/find-$target-")
  [ ! -e "$dictionary" ] || options+=(-dict="$dictionary")
  if [ $minimize = yes ]; then
    say "minimize the seeds of $target"
    smaller=$(mktemp -d)
    "$program" "${options[@]}" -merge=1 "$smaller" "$seeds" "$new"
    find "$seeds" -type f -delete
    find "$smaller" -type f -exec mv -t "$seeds" {} +
    rm -rf -- "$smaller"
    echo "$target: $(find "$seeds" -type f | wc -l) seeds"
  else
    say "fuzz $target for $seconds seconds"
    "$program" "${options[@]}" -max_total_time="$seconds" -print_final_stats=1 "$new" "$seeds"
  fi
done
