# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Starts a cluster. Removes the remains of a killed run first, and does not change a healthy cluster. Sourced.

healthy() {
  [ -e "/run/netns/$NETNS" ] && [ -e "$DIR/complete" ] && runs kubelet && runs containerd && api_ready && node_ready
}

bring_up() {
  if healthy >/dev/null 2>&1; then
    step "$NAME is already running"
    return
  fi
  if exists; then
    step "removing the remains of an earlier run of $NAME"
    take_down
  fi
  mkdir -p "$DIR"/{log,pid}
  printf '%s' "$KUBERNETES" >"$DIR/kubernetes"
  take_slot
  read_addresses
  make_pki
  make_network
  make_cgroups
  start_containerd
  load_image "$IMAGES/pause.tar"
  start_plane
  start_node
  step "images and name server"
  for image in coredns shell redis; do load_image "$IMAGES/$image.tar"; done
  apply_manifest coredns.yaml
  must_become 90 "the name server is ready" kubelet name_server_ready
  touch "$DIR/complete"
  step "$NAME is running: its node is ready"
}

# apply_manifest FILE: applies it with the addresses of this cluster.
apply_manifest() {
  local text
  text=$(<"$MANIFESTS/$1")
  # shellcheck disable=SC2016  # placeholders of the manifest
  text=${text//'${DNS_IP}'/$DNS_IP}
  # shellcheck disable=SC2016
  text=${text//'${STORE_IP}'/$STORE_IP}
  kubectl apply --server-side --force-conflicts -f - <<<"$text" >/dev/null
}

name_server_ready() {
  [ "$(kubectl -n kube-system get deployment coredns -o 'jsonpath={.status.readyReplicas}')" = 1 ]
}
