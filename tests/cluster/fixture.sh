#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cluster/fixture.sh up | down: the cluster of the scenarios, called `test`, for ctest. up: exit code 77 and the reason in
# $SKIPPED where a cluster cannot be had; every scenario then reads the reason and is skipped. down: a cluster that was up before
# stays up. CLUSTER_UP=--quick: as for ./dev cluster up.
set -uo pipefail
# shellcheck source=scripts/cluster_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../../scripts/cluster_common.sh"

use_cluster "${CLUSTER:-test}"
SKIPPED=$ROOT/build/test-results/cluster/skipped  # tests/cluster/lib.sh reads it
STARTED=$ROOT/build/test-results/cluster/started  # there: the tests brought the cluster up

cannot() {
  echo "$*" >"$SKIPPED"
  echo "skip  cluster: every scenario ($*)"
  exit 77
}

case ${1:-} in
  up)
    mkdir -p "${SKIPPED%/*}"
    rm -f "$SKIPPED"
    [ "$(id -u)" -eq 0 ] || cannot "not root: network namespaces and cgroups cannot be made"
    (require_packages "${CLUSTER_PACKAGES[@]}") || cannot "packages are missing, see the log of cluster/up"
    unshare --net true 2>/dev/null || cannot "this machine gives no network namespaces"
    # The last program that cluster_tools.sh builds.
    [ -x "$TOOLS/helm" ] || cannot "Kubernetes' tools were not built, see the log of tools"
    [ -e "$DIR/complete" ] || touch "$STARTED"
    bash "$ROOT/scripts/cluster.sh" up "$NAME" ${CLUSTER_UP:+"$CLUSTER_UP"}
    ;;
  down)
    if [ -e "$STARTED" ]; then
      bash "$ROOT/scripts/cluster.sh" down "$NAME" && rm -f "$STARTED"
    else
      echo "cluster $NAME was not started by the tests: it stays"
    fi
    ;;
  *)
    echo "usage: tests/cluster/fixture.sh up | down" >&2
    exit 64
    ;;
esac
