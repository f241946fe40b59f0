#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/baseline.sh binary | operator | image | chart: parts of version 0.1.0, built once from the history of this
# repository into build/baseline, for tests of upgrades and of two versions side by side. Prints the path of the part.
# Exit code 69: it cannot be built; the message contains the reason.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

# The commit of the release 0.1.0 in CHANGELOG.md.
COMMIT=289b249b005db938c2199303dba1d1e444febc5c
IMAGE=cronlatch.test/cronlatch:0.1.0
BASELINE=$ROOT/build/baseline
SOURCE=$BASELINE/src

cannot() {
  echo "baseline: $*" >&2
  exit 69
}

unpack_source() {
  [ "$(cat "$SOURCE/.commit" 2>/dev/null)" != "$COMMIT" ] || return 0
  git -C "$ROOT" cat-file -e "$COMMIT^{commit}" 2>/dev/null ||
    cannot "the history of this clone does not contain commit $COMMIT (version 0.1.0); in a shallow clone run: git fetch --unshallow"
  rm -rf --one-file-system -- "$SOURCE"
  mkdir -p "$SOURCE"
  git -C "$ROOT" archive --format=tar "$COMMIT" | tar -C "$SOURCE" -xf -
  echo "$COMMIT" >"$SOURCE/.commit"
}

# build PRESET PROGRAM: builds in a separate source tree.
build() {
  local preset=$1 program=$2 log=$BASELINE/$2.log
  unpack_source
  echo "baseline: building $program of version 0.1.0 (once; the log: ${log#"$ROOT/"})" >&2
  (
    cd "$SOURCE"
    # Version 0.1.0 does not look for ccache itself.
    ! command -v ccache >/dev/null || export CMAKE_CXX_COMPILER_LAUNCHER=ccache
    cmake --preset "$preset"
    nice -n 5 cmake --build "build/$preset" --parallel "$JOBS" --target "$program"
  ) >"$log" 2>&1 || { tail -n 20 "$log" >&2; cannot "$program of version 0.1.0 does not build"; }
  install "$SOURCE/build/$preset/$program" "$BASELINE/$program.new"
  mv "$BASELINE/$program.new" "$BASELINE/$program"
  rm -rf --one-file-system -- "$SOURCE/build/$preset"
}

# The two programs with their libraries, packed like the image of ./dev cluster --quick.
pack_image() {
  part binary >/dev/null
  part operator >/dev/null
  # shellcheck source=scripts/cluster_common.sh
  source "$ROOT/scripts/cluster_common.sh"
  # shellcheck source=scripts/cluster_images.sh
  source "$ROOT/scripts/cluster_images.sh"
  # shellcheck source=scripts/cluster_product_image.sh
  source "$ROOT/scripts/cluster_product_image.sh"
  # shellcheck disable=SC2034  # where pack writes
  IMAGES=$BASELINE
  pack_programs image "$IMAGE" "$BASELINE/cronlatch" "$BASELINE/cronlatch-operator" ||
    cannot "the image of version 0.1.0 cannot be packed"
}

copy_chart() {
  unpack_source
  rm -rf -- "$BASELINE/chart.new"
  cp -a "$SOURCE/charts/cronlatch" "$BASELINE/chart.new"
  mv "$BASELINE/chart.new" "$BASELINE/chart"
}

# part NAME: builds it unless it exists, and prints its path. An existing part is complete.
part() {
  case $1 in
    binary) ensure cronlatch build release cronlatch ;;
    operator) ensure cronlatch-operator build operator cronlatch-operator ;;
    image) ensure image.tar pack_image ;;
    chart) ensure chart copy_chart ;;
    *)
      echo "usage: scripts/baseline.sh binary | operator | image | chart" >&2
      exit 64
      ;;
  esac
}
ensure() {  # ensure FILE COMMAND...
  local path=$BASELINE/$1
  shift
  if [ ! -e "$path" ]; then
    exec 9>"$BASELINE/.lock"
    flock 9  # concurrent runs build it once
    [ -e "$path" ] || "$@"
  fi
  echo "$path"
}

mkdir -p "$BASELINE"
part "${1:-}"
