#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev cluster ...: one-node Kubernetes clusters on this machine, for developers and for tests. The files of a cluster
# are in build/cluster/<name>, its processes in a network namespace of its own; see the usage below.
set -euo pipefail
SCRIPTS=$(dirname -- "${BASH_SOURCE[0]}")
# shellcheck source=scripts/cluster_common.sh
source "$SCRIPTS/cluster_common.sh"
# shellcheck source=scripts/cluster_pki.sh
source "$SCRIPTS/cluster_pki.sh"
# shellcheck source=scripts/cluster_plane.sh
source "$SCRIPTS/cluster_plane.sh"
# shellcheck source=scripts/cluster_node.sh
source "$SCRIPTS/cluster_node.sh"
# shellcheck source=scripts/cluster_images.sh
source "$SCRIPTS/cluster_images.sh"
# shellcheck source=scripts/cluster_product.sh
source "$SCRIPTS/cluster_product.sh"
# shellcheck source=scripts/cluster_product_image.sh
source "$SCRIPTS/cluster_product_image.sh"
# shellcheck source=scripts/cluster_down.sh
source "$SCRIPTS/cluster_down.sh"
# shellcheck source=scripts/cluster_up.sh
source "$SCRIPTS/cluster_up.sh"
# shellcheck source=scripts/cluster_quickstart.sh
source "$SCRIPTS/cluster_quickstart.sh"

usage() {
  cat <<'TEXT'
usage: ./dev cluster COMMAND

  up [NAME] [--quick | --no-build] [--store-of OTHER] [--kubernetes VERSION]
                                 start a cluster, build the product from this tree, install it with helm; run it again to
                                 apply changes. --quick: pack the image from build/release and build/dev, not with the
                                 Dockerfile. --no-build: use the image of the last build. --store-of: use the Redis
                                 of cluster OTHER instead of a Redis in this cluster. --kubernetes: 1.30 or 1.36 instead
                                 of 1.34; its programs are built once (ten minutes)
  down [NAME | --all]            stop it and remove its files
  kubectl [NAME] -- ARGS         kubectl in the cluster, for example: ./dev cluster kubectl -- get pods -A
                                 with the plugin of ./dev build: ./dev cluster kubectl -- cronlatch -A
  helm [NAME] -- ARGS            helm in the cluster
  load [NAME] IMAGE.tar          load an image into the node (docker save, buildah push docker-archive:)
  list                           list the clusters
  test [--as-is | --quick] [--kubernetes VERSION] [SCENARIO...]
                                 run the scenarios of tests/cluster/scenarios on cluster `test`; --as-is: on the running
                                 cluster, without applying changes; --quick: as with `up`; `test list` lists the scenarios
  quickstart [DIST]              execute the commands of docs/quickstart.md on a new cluster, with the release in DIST (dist/)

The default for NAME is cronlatch. Requires root, for namespaces and cgroups.
TEXT
}

wrong_usage() {
  [ $# -eq 0 ] || echo "./dev cluster: $*" >&2
  usage >&2
  exit 64
}

must_be_root() {
  [ "$(id -u)" -eq 0 ] && return
  echo "./dev cluster: requires root, for network namespaces and cgroups: run sudo ./dev cluster ..." >&2
  exit 69
}

# Only one command at a time may change a cluster.
lock_cluster() {
  # shellcheck disable=SC2153  # use_cluster sets it
  mkdir -p "$CLUSTERS"
  exec 9>"$CLUSTERS/.$NAME.lock"
  flock -n 9 || {
    echo "waiting for another ./dev cluster command on $NAME ..." >&2
    flock 9
  }
}

# Clusters that start at once share the images: one of them makes an image at a time.
with_images_locked() {
  mkdir -p "$IMAGES"
  exec 7>"$IMAGES/.lock"
  flock 7
  "$@"
  exec 7>&-
}

must_exist() {
  [ -e "/run/netns/$NETNS" ] || stop_here "cluster $NAME does not exist: run ./dev cluster up${1:+ $1}"
  read_addresses
}

up() {
  local name=$DEFAULT_CLUSTER store_of='' make_image=make_product_image kubernetes=''
  while [ $# -gt 0 ]; do
    case $1 in
      --quick) make_image=make_quick_image ;;
      --no-build) make_image=have_image ;;
      --kubernetes) kubernetes=${2:?--kubernetes requires a version, for example 1.36}; shift ;;
      --store-of) store_of=${2:?--store-of requires a name}; shift ;;
      -*) wrong_usage "up: unknown option $1" ;;
      *) name=$1 ;;
    esac
    shift
  done
  bash "$SCRIPTS/cluster_tools.sh" "$kubernetes"
  use_cluster "$name"
  lock_cluster
  select_kubernetes "$kubernetes"
  with_images_locked make_images
  bring_up
  read_addresses
  with_images_locked "$make_image"
  install_product "$store_of"
}

# select_kubernetes VERSION: of a cluster that starts. A running cluster keeps its version.
select_kubernetes() {
  if exists && [ "$1" != "$KUBERNETES" ]; then
    [ -n "$1" ] || return 0
    stop_here "$NAME runs Kubernetes ${KUBERNETES:-1.34}: stop it first (./dev cluster down $NAME)"
  fi
  use_kubernetes "$1"
}

down() {
  local folder name=${1:-$DEFAULT_CLUSTER}
  if [ "$name" = --all ]; then
    for folder in "$CLUSTERS"/*/pid; do
      [ ! -d "$folder" ] || down "$(basename -- "$(dirname -- "$folder")")"
    done
    return
  fi
  use_cluster "$name"
  lock_cluster
  if ! exists; then
    echo "cluster $NAME does not exist" >&2
    return
  fi
  take_down
  step "$NAME is stopped, its files are removed"
}

# with_name ARGS...: sets NAMED and REST from [NAME] -- ARGS.
with_name() {
  NAMED=$DEFAULT_CLUSTER
  if [ $# -gt 0 ] && [ "$1" != -- ]; then
    NAMED=$1
    shift
  fi
  [ "${1:-}" = -- ] || wrong_usage "the arguments must follow --"
  shift
  REST=("$@")
}

# kubectl accepts no flag in front of a plugin's name: the variable names the cluster instead.
kubectl_with_plugin() {
  if [ "${1:-}" = cronlatch ] && [ ! -x "$PLUGIN" ]; then
    stop_here "there is no program at build/release/kubectl-cronlatch; run ./dev build"
  fi
  in_cluster env KUBECONFIG="$ADMIN" PATH="${PLUGIN%/*}:$TOOLS:$PATH" "$TOOLS/kubectl" "$@"
}

list() {
  local folder
  for folder in "$CLUSTERS"/*/pid; do
    [ -d "$folder" ] || continue
    use_cluster "$(basename -- "$(dirname -- "$folder")")"
    read_addresses
    if healthy >/dev/null 2>&1; then echo "$NAME ready"; else echo "$NAME broken"; fi
  done
}

command=${1:-help}
[ $# -eq 0 ] || shift
case $command in
  help | -h | --help) usage && exit ;;
esac
must_be_root
case $command in
  up) up "$@" ;;
  down) down "$@" ;;
  list) list ;;
  kubectl | helm)
    with_name "$@"
    use_cluster "$NAMED"
    must_exist "$NAMED"
    if [ "$command" = kubectl ]; then kubectl_with_plugin "${REST[@]}"; else helm "${REST[@]}"; fi
    ;;
  load)
    [ $# -gt 0 ] || wrong_usage "load requires the tar of an image"
    use_cluster "$([ $# -gt 1 ] && echo "$1" || echo "$DEFAULT_CLUSTER")"
    must_exist "$NAME"
    load_image "${!#}"
    ;;
  quickstart) quickstart "$@" ;;
  test) exec bash "$ROOT/tests/cluster/run.sh" "$@" ;;
  *) wrong_usage "unknown command '$command'" ;;
esac
