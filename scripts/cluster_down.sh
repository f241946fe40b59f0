# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Ends a cluster, also one of which only pieces are left: a killed run, a removed folder. What belongs to it is known by its
# network namespace, its cgroups and its folder, never by a program's name. Sourced.

# Every process of this cluster: in its network namespace, or in one of its cgroups (the pods).
processes_of_cluster() {
  local folder
  {
    [ ! -e "/run/netns/$NETNS" ] || ip netns pids "$NETNS" 2>/dev/null || true
    while read -r folder; do
      [ ! -d "$folder" ] || find "$folder" -name cgroup.procs -exec cat {} + 2>/dev/null || true
    done < <(cgroup_folders)
  } | sort -un | grep -vx "$$" || true
}

# True when there is nobody left; kills who is.
nobody_left() {
  local left
  mapfile -t left < <(processes_of_cluster)
  [ ${#left[@]} -gt 0 ] || return 0
  kill -9 "${left[@]}" 2>/dev/null || true
  return 1
}

unmount_all() {
  local target
  while read -r target; do
    umount -l "$target" 2>/dev/null || true
  done < <(cut -d ' ' -f 5 /proc/self/mountinfo | grep -F "$DIR/" | sort -r)
}

# The folder is removed only when nothing is mounted below it any more: rm must not go through a mount.
remove_state() {
  unmount_all
  if grep -qF " $DIR/" /proc/self/mountinfo; then stop_here "$NAME: something is still mounted below $DIR"; fi
  rm -rf --one-file-system -- "$DIR"
}

remove_cgroups() {
  local folder
  for folder in "/sys/fs/cgroup/$NETNS" "/sys/fs/cgroup"/*/"$NETNS"; do  # runc uses more hierarchies than it is given
    [ ! -d "$folder" ] || find "$folder" -depth -type d -exec rmdir {} + 2>/dev/null || true
  done
}

# The few things that containerd and kubelet keep elsewhere, whatever they are told.
remove_strays() {
  local socket
  while read -r socket || [ -n "$socket" ]; do
    rm -f -- "${socket#unix://}"
  done < <(find "$DIR/containerd/state" -name address -type f -exec sed -n 1p {} \; 2>/dev/null)
  find /var/log/containers -lname "$DIR/*" -delete 2>/dev/null || true
}

exists() { [ -e "/run/netns/$NETNS" ] || [ -d "$DIR" ]; }

# Networks of other clusters' linked with ours end with our namespace. Callers hold the cluster's lock.
take_down() {
  local program
  for program in kubelet kube-proxy kube-scheduler kube-controller-manager kube-apiserver etcd containerd; do
    stop_program "$program" 5
  done
  wait_until 20 nobody_left || stop_here "$NAME: these processes do not end: $(processes_of_cluster | tr '\n' ' ')"
  [ ! -e "/run/netns/$NETNS" ] || ip netns delete "$NETNS"
  remove_cgroups
  remove_strays
  remove_state
}
