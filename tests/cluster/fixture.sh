#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cluster/fixture.sh up | down: starts and stops the cluster of the scenarios, named `test`, for ctest. up: where a
# cluster is not possible, writes the reason to $SKIPPED and exits with 77; every scenario then is skipped with this
# reason. down: does not stop a cluster that ran before. The product's image is packed from build/release and build/dev;
# with IMAGE_FROM=Dockerfile it is built as it ships, which takes minutes (./dev test all, ./dev cluster test).
set -uo pipefail
# shellcheck source=scripts/cluster_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../../scripts/cluster_common.sh"

use_cluster "${CLUSTER:-test}"
SKIPPED=$ROOT/build/test-results/cluster/skipped.$NAME  # tests/cluster/lib.sh reads it
STARTED=$ROOT/build/test-results/cluster/started.$NAME  # exists when the tests started the cluster

cannot() {
  echo "$*" >"$SKIPPED"
  echo "skip  cluster: every scenario ($*)"
  exit 77
}

case ${1:-} in
  up)
    mkdir -p "${SKIPPED%/*}"
    rm -f "$SKIPPED"
    [ "$(id -u)" -eq 0 ] || cannot "not root: network namespaces and cgroups cannot be created"
    (require_packages "${CLUSTER_PACKAGES[@]}") || cannot "packages are missing, see the log of cluster/up"
    unshare --net true 2>/dev/null || cannot "network namespaces cannot be created on this machine"
    # The last program that cluster_tools.sh builds.
    [ -x "$TOOLS/helm" ] || cannot "the programs of Kubernetes were not built, see the log of tools"
    [ -e "$DIR/complete" ] || touch "$STARTED"
    quick=(--quick)
    [ "${IMAGE_FROM:-}" != Dockerfile ] || quick=()
    # shellcheck disable=SC2086  # no version, no option
    bash "$ROOT/scripts/cluster.sh" up "$NAME" "${quick[@]}" ${KUBERNETES_VERSION:+--kubernetes $KUBERNETES_VERSION}
    ;;
  down)
    if [ -e "$STARTED" ]; then
      bash "$ROOT/scripts/cluster.sh" down "$NAME" && rm -f "$STARTED"
    else
      echo "cluster $NAME was not started by the tests and still runs"
    fi
    ;;
  *)
    echo "usage: tests/cluster/fixture.sh up | down" >&2
    exit 64
    ;;
esac
