# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Stops a cluster, also an incomplete one (a killed run, a removed folder). Its parts are found by its network
# namespace, its cgroups and its folder, never by the name of a program. Sourced.

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

# True when no process is left; kills remaining processes.
no_process_left() {
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

# The folder is removed only when nothing is mounted below it, because rm must not delete files of a mount.
remove_state() {
  unmount_all
  if grep -qF " $DIR/" /proc/self/mountinfo; then stop_here "$NAME: a mount below $DIR could not be removed"; fi
  rm -rf --one-file-system -- "$DIR"
}

remove_cgroups() {
  local folder
  for folder in "/sys/fs/cgroup/$NETNS" "/sys/fs/cgroup"/*/"$NETNS"; do  # runc also uses other hierarchies
    [ ! -d "$folder" ] || find "$folder" -depth -type d -exec rmdir {} + 2>/dev/null || true
  done
}

# Files that containerd and kubelet write to fixed paths outside of the folder.
remove_outside_files() {
  local socket
  while read -r socket || [ -n "$socket" ]; do
    rm -f -- "${socket#unix://}"
  done < <(find "$DIR/containerd/state" -name address -type f -exec sed -n 1p {} \; 2>/dev/null)
  find /var/log/containers -lname "$DIR/*" -delete 2>/dev/null || true
}

exists() { [ -e "/run/netns/$NETNS" ] || [ -d "$DIR" ]; }

# Links to the networks of other clusters end with the namespace. Callers hold the cluster's lock.
take_down() {
  local program
  for program in kubelet kube-proxy kube-scheduler kube-controller-manager kube-apiserver etcd containerd; do
    stop_program "$program" 5
  done
  wait_until 20 no_process_left || stop_here "$NAME: these processes did not terminate: $(processes_of_cluster | tr '\n' ' ')"
  [ ! -e "/run/netns/$NETNS" ] || ip netns delete "$NETNS"
  remove_cgroups
  remove_outside_files
  remove_state
}
