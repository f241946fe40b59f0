# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Common functions of the cluster scripts: the selected cluster, its folder, its addresses, and functions that start and
# stop its programs. A cluster runs in a network namespace and cgroups of its own. Sourced.
# shellcheck disable=SC2034  # most of these variables are for the scripts that source this one

# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

CLUSTERS=$ROOT/build/cluster
IMAGES=$CLUSTERS/images
MANIFESTS=$ROOT/tests/cluster/manifests
DEFAULT_CLUSTER=cronlatch
RESERVED_NAMES=' tools images buildah go base '
export PATH=$PATH:/usr/sbin:/sbin

stop_here() {
  echo "./dev cluster: $*" >&2
  exit 1
}

# use_cluster NAME: selects the cluster for the functions below.
use_cluster() {
  NAME=$1
  if ! [[ $NAME =~ ^[a-z]([a-z0-9-]{0,14}[a-z0-9])?$ ]] || [[ $RESERVED_NAMES == *" $NAME "* ]]; then
    echo "./dev cluster: '$NAME' is not a valid cluster name: use 1 to 16 of a-z, 0-9 and -, and none of$RESERVED_NAMES" >&2
    exit 64
  fi
  DIR=$CLUSTERS/$NAME
  use_kubernetes "$(cat "$DIR/kubernetes" 2>/dev/null)"
  # Two checkouts may have clusters with the same name, and namespaces and cgroups are shared by the whole machine.
  NETNS=cronlatch-$(printf '%s' "$ROOT" | cksum | cut -c 1-5)-$NAME
  CONTAINERD=$DIR/containerd/containerd.sock
  ADMIN=$DIR/admin.kubeconfig
}

# use_kubernetes VERSION: selects the programs of Kubernetes; empty: of the version that everyday tests use.
use_kubernetes() {
  KUBERNETES=$1
  TOOLS=$CLUSTERS/tools${KUBERNETES:+-$KUBERNETES}
}
use_kubernetes ''

# A slot of addresses in 198.18.0.0/15, the range reserved for benchmarks (RFC 2544), which other networks do not use.
# Each cluster has its own slot, so that two clusters can be linked.
take_slot() {
  local slot used
  exec 8>"$CLUSTERS/.slots.lock"
  flock 8
  if [ ! -s "$DIR/slot" ]; then
    used=" $({ cat "$CLUSTERS"/*/slot 2>/dev/null || true; } | tr '\n' ' ') "
    for slot in {1..100}; do
      [[ $used == *" $slot "* ]] || break
    done
    echo "$slot" >"$DIR/slot"
  fi
  exec 8>&-
}

read_addresses() {
  SLOT=$(cat "$DIR/slot")
  NODE_IP=198.18.$SLOT.1
  PODS=198.19.$((2 * SLOT)).0/24
  SERVICES=198.19.$((2 * SLOT + 1)).0/24
  API_IP=198.19.$((2 * SLOT + 1)).1
  DNS_IP=198.19.$((2 * SLOT + 1)).10
  STORE_IP=198.19.$((2 * SLOT + 1)).20
}

in_cluster() { nsenter --net="/run/netns/$NETNS" "$@"; }
kubectl() { in_cluster "$TOOLS/kubectl" --kubeconfig "$ADMIN" "$@"; }
helm() {
  in_cluster env KUBECONFIG="$ADMIN" HELM_CACHE_HOME="$DIR/helm" HELM_CONFIG_HOME="$DIR/helm" HELM_DATA_HOME="$DIR/helm" \
    "$TOOLS/helm" "$@"
}
# node_program NAME: that of this version of Kubernetes, or Debian's.
node_program() { if [ -x "$TOOLS/$1" ]; then echo "$TOOLS/$1"; else echo "$1"; fi; }
cri() { "$(node_program ctr)" --address "$CONTAINERD" --namespace k8s.io "$@"; }

# start PROGRAM COMMAND...: in the cluster's network namespace, its output in log/PROGRAM.log, its process in
# pid/PROGRAM.
start() {
  local program=$1
  shift
  # The program must not inherit the lock files of this script (fd 8, 9).
  setsid nsenter --net="/run/netns/$NETNS" "$@" </dev/null >"$DIR/log/$program.log" 2>&1 8>&- 9>&- &
  echo $! >"$DIR/pid/$program"
}

runs() {  # runs PROGRAM
  local pid
  pid=$(cat "$DIR/pid/$1" 2>/dev/null) && [ -d "/proc/$pid" ]
}

# stop_program PROGRAM SECONDS: sends TERM, and KILL after SECONDS.
stop_program() {
  local pid
  pid=$(cat "$DIR/pid/$1" 2>/dev/null) || return 0
  # After a reboot another program may have this process id. A program of the cluster is in its network namespace.
  if in_cluster_network "$pid"; then
    kill "$pid" 2>/dev/null || true
    wait_until "$2" gone "$pid" || kill -9 "$pid" 2>/dev/null || true
  fi
  rm -f "$DIR/pid/$1"
}

gone() { [ ! -d "/proc/$1" ] || [ "$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -c 1)" = Z ]; }
in_cluster_network() { [ "$(stat -Lc %i "/proc/$1/ns/net" 2>/dev/null)" = "$(stat -Lc %i "/run/netns/$NETNS" 2>/dev/null)" ]; }

# await SECONDS COMMAND...: as wait_until, but polls three times a second, and after three seconds once a second, because
# each attempt runs kubectl: a tenth of a second of processor time.
await() {
  local start=$SECONDS until_s=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $until_s ] || return 1
    if [ $((SECONDS - start)) -lt 3 ]; then sleep 0.3; else sleep 1; fi
  done
}

# must_become SECONDS WHAT LOG COMMAND...: waits for a condition. After a timeout it prints the log of the program LOG.
must_become() {
  local seconds=$1 what=$2 log=$3
  shift 3
  if ! await "$seconds" "$@" >/dev/null 2>&1; then
    tail -n 25 "$DIR/log/$log.log" >&2 || true
    stop_here "$NAME: timed out after $seconds s waiting for: $what (log: build/cluster/$NAME/log/$log.log)"
  fi
}

# step TEXT: one line of progress, with the seconds since the start.
step() { printf '%4ds  %s\n' "$SECONDS" "$*" >&2; }
