# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The node: cgroups of its own, containerd, kubelet, kube-proxy. Sourced by cluster_up.sh.

# Cgroup folders of this node's pods: one in each v1 hierarchy, or one in the v2 hierarchy.
cgroup_folders() {
  local hierarchy
  if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
    echo "/sys/fs/cgroup/$NETNS"
    return
  fi
  for hierarchy in /sys/fs/cgroup/*/; do
    case $hierarchy in
      */unified/) ;;
      *) [ -L "${hierarchy%/}" ] || echo "$hierarchy$NETNS" ;;
    esac
  done
}

# Each node needs its own cgroup root: a kubelet kills the pods of another kubelet with the same root as orphans.
make_cgroups() {
  local folder file
  [ ! -f /sys/fs/cgroup/cgroup.controllers ] ||
    sed 's/\</+/g' /sys/fs/cgroup/cgroup.controllers >/sys/fs/cgroup/cgroup.subtree_control
  while read -r folder; do
    mkdir -p "$folder"
    case $folder in
      */cpuset/*)  # a new cpuset is empty, and no process can run in it
        for file in cpuset.cpus cpuset.mems; do cat "$folder/../$file" >"$folder/$file"; done
        ;;
    esac
  done < <(cgroup_folders)
}

# If the folder is on an overlay file system itself (in a container), layers are copied instead of mounted.
snapshotter() {
  local probe=$DIR/probe
  mkdir -p "$probe"/{lower,upper,work,merged}
  if mount -t overlay overlay -o "lowerdir=$probe/lower,upperdir=$probe/upper,workdir=$probe/work" "$probe/merged" 2>/dev/null
  then
    umount "$probe/merged"
    echo overlayfs
  else
    echo native
  fi
  rm -rf -- "$probe"
}

write_containerd() {
  mkdir -p "$DIR/containerd" "$DIR/cni"
  cat >"$DIR/containerd/config.toml" <<TOML
version = 2
root = "$DIR/containerd/root"
state = "$DIR/containerd/state"
[grpc]
  address = "$CONTAINERD"
[plugins."io.containerd.internal.v1.opt"]
  path = "$DIR/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "cronlatch.test/pause:1"
  # Without CAP_SYS_RESOURCE a lower oom_score_adj cannot be set, and every sandbox would fail.
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  # Registries that scenarios start: containerd reads this folder for each pull.
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "$DIR/containerd/registries"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$DIR/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "$(snapshotter)"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        Root = "$DIR/containerd/runc"
TOML
  cat >"$DIR/cni/10-bridge.conflist" <<JSON
{"cniVersion": "0.4.0", "name": "$NAME", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": false, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "$DIR/cni/addresses",
            "ranges": [[{"subnet": "$PODS"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
JSON
}

write_kubelet() {
  mkdir -p "$DIR/kubelet"
  : >"$DIR/resolv.conf"  # empty: pods use only the cluster's name server
  cat >"$DIR/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: "$DIR/pki/ca.crt"}}
authorization: {mode: Webhook}
containerRuntimeEndpoint: "unix://$CONTAINERD"
cgroupDriver: cgroupfs
cgroupRoot: "/$NETNS"
failCgroupV1: false
failSwapOn: false
enforceNodeAllocatable: []
localStorageCapacityIsolation: false
clusterDNS: ["$DNS_IP"]
clusterDomain: cluster.local
resolvConf: "$DIR/resolv.conf"
podLogsDir: "$DIR/pods"
volumePluginDir: "$DIR/kubelet/volume-plugins"
# A changed Secret is updated in the pods within this time.
syncFrequency: 10s
# No image garbage collection and no eviction: images cannot be pulled again, and other programs use the disk, too.
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 0%, nodefs.available: 0%, imagefs.available: 0%, nodefs.inodesFree: 0%}
shutdownGracePeriod: 0s
YAML
}

start_containerd() {
  write_containerd
  # A proxy of this machine is not reachable from the cluster's network.
  # It searches its shim in PATH.
  start containerd env -u HTTP_PROXY -u HTTPS_PROXY -u http_proxy -u https_proxy PATH="$TOOLS:$PATH" \
    "$(node_program containerd)" --config "$DIR/containerd/config.toml"
  must_become 30 "containerd is ready" containerd cri version
}

# The kubelet changes these settings for the whole machine; they are restored afterwards.
KERNEL_SETTINGS=(vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops kernel.keys.root_maxkeys
  kernel.keys.root_maxbytes)

start_node() {
  local before
  step "kubelet, kube-proxy"
  before=$(sysctl "${KERNEL_SETTINGS[@]}" 2>/dev/null || true)
  write_kubelet
  start kubelet "$TOOLS/kubelet" --config="$DIR/kubelet.yaml" --kubeconfig="$DIR/kubelet.kubeconfig" \
    --root-dir="$DIR/kubelet" --cert-dir="$DIR/kubelet/pki" --node-ip="$NODE_IP" --hostname-override="$NAME"
  start kube-proxy "$TOOLS/kube-proxy" --kubeconfig="$DIR/kube-proxy.kubeconfig" --proxy-mode=iptables \
    --cluster-cidr="$PODS" --hostname-override="$NAME" --conntrack-max-per-core=0 \
    --conntrack-tcp-timeout-established=0 --conntrack-tcp-timeout-close-wait=0
  must_become 90 "the node is ready" kubelet node_ready
  restore_kernel "$before"
}

restore_kernel() {  # restore_kernel LINES: the output of sysctl
  local line
  while read -r line; do
    sysctl -q -w "${line// = /=}" >/dev/null 2>&1 || true
  done <<<"$1"
}

node_ready() {
  [ "$(kubectl get node "$NAME" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]
}
