# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The control plane: the network namespace, etcd, API server, controllers, scheduler. Sourced by cluster_up.sh and by
# the scenario that restarts the API server.

# Both ends of the veth pair are in the namespace: the node has an address and a default route, but no connection to the
# outside.
make_network() {
  ip netns add "$NETNS"
  ip -n "$NETNS" link set lo up
  ip -n "$NETNS" link add eth0 type veth peer name eth0-peer
  ip -n "$NETNS" address add "$NODE_IP/24" dev eth0
  ip -n "$NETNS" link set eth0 up
  ip -n "$NETNS" link set eth0-peer up
  ip -n "$NETNS" route add default dev eth0
  in_cluster sysctl -q -w net.ipv4.ip_forward=1
}

# Without fsync: the state need not survive a power failure.
start_etcd() {
  start etcd etcd --name "$NAME" --data-dir "$DIR/etcd" --unsafe-no-fsync --logger zap \
    --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 \
    --initial-cluster "$NAME=http://127.0.0.1:2380"
}

# Kubernetes 1.36 serves MutatingAdmissionPolicy, 1.34 only with these flags.
start_apiserver() {
  local pki=$DIR/pki policies=()
  [ -n "$KUBERNETES" ] ||
    policies=(--feature-gates=MutatingAdmissionPolicy=true --runtime-config=admissionregistration.k8s.io/v1beta1=true)
  start kube-apiserver "$TOOLS/kube-apiserver" "${policies[@]}" --etcd-servers=http://127.0.0.1:2379 --advertise-address="$NODE_IP" \
    --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --allow-privileged=true \
    --client-ca-file="$pki/ca.crt" --tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" \
    --kubelet-client-certificate="$pki/kubelet-client.crt" --kubelet-client-key="$pki/kubelet-client.key" \
    --kubelet-preferred-address-types=InternalIP \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$pki/accounts.pub" \
    --service-account-signing-key-file="$pki/accounts.key" --service-cluster-ip-range="$SERVICES"
}

start_controllers() {
  start kube-controller-manager "$TOOLS/kube-controller-manager" --kubeconfig="$DIR/kube-controller-manager.kubeconfig" \
    --leader-elect=false --use-service-account-credentials --root-ca-file="$DIR/pki/ca.crt" \
    --service-account-private-key-file="$DIR/pki/accounts.key" \
    --cluster-signing-cert-file="$DIR/pki/ca.crt" --cluster-signing-key-file="$DIR/pki/ca.key"
  start kube-scheduler "$TOOLS/kube-scheduler" --kubeconfig="$DIR/kube-scheduler.kubeconfig" --leader-elect=false
}

api_ready() { runs kube-apiserver && kubectl get --raw /readyz --request-timeout=2s; }

start_plane() {
  step "etcd, kube-apiserver, kube-controller-manager, kube-scheduler"
  start_etcd
  start_apiserver
  must_become 120 "the API server is ready" kube-apiserver api_ready
  start_controllers
}
