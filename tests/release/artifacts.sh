# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The packages that the tests install: those of the folder DIST if it is set, otherwise packed here from build/release as
# scripts/release.sh does, without images and chart. Sourced by tests/release/*_test.sh after tests/release/roots.sh.
# shellcheck disable=SC2153  # scripts/common.sh and use_architecture set the variables

# shellcheck source=packaging/project.env
source "$ROOT/packaging/project.env"
# shellcheck source=scripts/release/architecture.sh
source "$ROOT/scripts/release/architecture.sh"
# shellcheck source=scripts/release/stage.sh
source "$ROOT/scripts/release/stage.sh"
VERSION=$(sed -nE 's/^project\(cronlatch VERSION ([0-9.]+).*/\1/p' "$ROOT/CMakeLists.txt")

# pack_deb FOLDER TREE: a deb of TREE in FOLDER.
pack_deb() {
  (
    cd "$ROOT" || exit
    export TREE=$2 OUT=$1 VERSION SOURCE MAINTAINER DEB_ARCHITECTURE RPM_ARCHITECTURE
    cpack --config packaging/cpack.cmake -G DEB -B "$1"
  )
}

# Sets DEB and TARBALL.
find_artifacts() {
  local from=${DIST:-$STAGE/dist}
  DEB=$from/cronlatch_${VERSION}_amd64.deb TARBALL=$from/cronlatch_${VERSION}_linux_amd64.tar.gz
  [ -z "${DIST:-}" ] || { [ -s "$DEB" ] && [ -s "$TARBALL" ]; return; }
  cd "$ROOT" || return
  use_architecture amd64
  mapfile -t PROGRAMS < <({ linked_packages cronlatch && linked_packages kubectl-cronlatch; } | sort -u)
  (umask 022 && stage_package "$STAGE/package") && pack_deb "$from" "$STAGE/package" && tar -C "$STAGE/package/usr" -czf "$TARBALL" .
}
