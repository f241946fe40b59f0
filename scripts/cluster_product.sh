# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Installs the product in a cluster: its image, Redis, the chart, and the namespace `demo` for examples. A second run
# applies changes. Sourced.
# shellcheck disable=SC2153  # use_cluster sets NAME and similar variables

STORE_URL=rediss://cron@redis.store.svc.cluster.local.
# Registries for the image lookup: those of the scenarios with a registry (tests/cluster/registry.sh).
REGISTRIES="registry.any-image.svc.cluster.local:5000, registry.any-image-kubelet.svc.cluster.local:5000"

# install_product [OTHER]: uses the Redis of cluster OTHER, or else starts a Redis.
install_product() {
  local store_of=${1:-}
  load_product
  if [ -n "$store_of" ]; then
    use_store_of "$store_of"
  else
    start_store
  fi
  share_store_secret
  share_registry_authority
  step "namespace demo, the chart"
  apply_manifest demo.yaml
  store_secret demo
  apply_manifest client.yaml
  install_chart
  await_rollout store client
  print_next_steps
}

# A running pod keeps its image: if the image changed, the pods that use it are restarted.
load_product() {
  local digest
  digest=$(sha256sum <"$IMAGES/product.tar")
  [ "$(cat "$DIR/product.digest" 2>/dev/null)" != "$digest" ] || return 0
  step "loading $PRODUCT_IMAGE"
  load_image "$IMAGES/product.tar"
  if kubectl -n cronlatch get deployment cronlatch-operator >/dev/null 2>&1; then
    kubectl -n cronlatch rollout restart deployment cronlatch-operator >/dev/null
    kubectl -n store rollout restart deployment client >/dev/null
  fi
  echo "$digest" >"$DIR/product.digest"
}

make_namespace() { kubectl create namespace "$1" --dry-run=client -o yaml | kubectl apply --server-side -f - >/dev/null; }

# secret_of_files NAMESPACE NAME FILE...
secret_of_files() {
  local namespace=$1 name=$2
  shift 2
  kubectl -n "$namespace" create secret generic "$name" "${@/#/--from-file=}" --dry-run=client -o yaml |
    kubectl apply --server-side --force-conflicts -f - >/dev/null
}

# store_secret NAMESPACE: creates the Secret for gated Jobs in this namespace.
store_secret() {
  secret_of_files "$1" cronlatch-store "$DIR"/store/{username,password,ca.crt,tls.crt,tls.key}
}

start_store() {
  step "Redis, with TLS and a separate user"
  make_store_secrets
  make_namespace store
  sed "s/\${PASSWORD}/$(<"$DIR/store/password")/" "$MANIFESTS/redis.conf" >"$DIR/store/redis.conf"
  secret_of_files store redis "$DIR"/store/{redis.conf,ca.crt,server.crt,server.key}
  apply_manifest redis.yaml
  await_rollout store redis
}

# use_store_of OTHER: the Redis of cluster OTHER has the same name in this cluster, through a link between the two
# networks.
use_store_of() {
  local other=$1 own=$NAME
  step "the Redis of $other, through a link"
  use_cluster "$other"
  if [ ! -s "$DIR/store/password" ] || [ ! -e "/run/netns/$NETNS" ]; then
    stop_here "cluster $other does not exist or has no store"
  fi
  read_addresses
  local store=$DIR/store netns=$NETNS node=$NODE_IP slot=$SLOT nets="$PODS $SERVICES" address=$STORE_IP
  use_cluster "$own"
  read_addresses
  mkdir -p "$DIR/store"
  cp "$store"/{username,password,ca.crt,tls.crt,tls.key} "$DIR/store/"
  link_networks "$netns" "$node" "$slot" "$nets"
  make_namespace store
  STORE_IP=$address
  apply_manifest redis_elsewhere.yaml
}

# link_networks NETNS NODE-IP SLOT NETWORKS: a veth pair between that namespace and the cluster's, and the routes over
# it.
link_networks() {
  local netns=$1 node=$2 slot=$3 nets=$4
  ip -n "$NETNS" link show "to-$slot" >/dev/null 2>&1 && return
  ip -n "$NETNS" link add "to-$slot" type veth peer name "to-$SLOT" netns "$netns"
  routes "$NETNS" "to-$slot" "$NODE_IP" "$node" "$nets"
  routes "$netns" "to-$SLOT" "$node" "$NODE_IP" "$PODS $SERVICES"
}

routes() {  # routes NETNS DEVICE LOCAL-NODE REMOTE-NODE REMOTE-NETWORKS
  local network networks
  read -ra networks <<<"$5"
  ip -n "$1" link set "$2" up
  ip -n "$1" route replace "$4/32" dev "$2" src "$3"
  for network in "${networks[@]}"; do ip -n "$1" route replace "$network" via "$4" dev "$2" onlink; done
}

share_store_secret() {
  make_namespace cronlatch
  store_secret store
  store_secret cronlatch
}

share_registry_authority() {
  [ -s "$DIR/registry/ca.crt" ] || authority "$DIR/registry" "registries of $NAME"
  kubectl -n cronlatch create configmap registry-authority --from-file="$DIR/registry/ca.crt" --dry-run=client -o yaml |
    kubectl apply --server-side --force-conflicts -f - >/dev/null
}

# The values of the chart in these clusters. Other values can be set with ./dev cluster helm.
chart_values() {
  cat <<YAML
image: {registry: cronlatch.test, repository: cronlatch, tag: dev, pullPolicy: Never}
inject: {pullPolicy: Never}
store: {url: "$STORE_URL"}
entrypointLookup: {registries: [$REGISTRIES], caConfigMap: registry-authority}
YAML
}

install_chart() {
  chart_values >"$DIR/values.yaml"
  helm upgrade --install cronlatch "$ROOT/charts/cronlatch" --namespace cronlatch --values "$DIR/values.yaml" \
    --wait --timeout 3m >"$DIR/log/helm.log" 2>&1 || {
    cat "$DIR/log/helm.log" >&2
    kubectl -n cronlatch get pods -o wide >&2
    kubectl -n cronlatch logs deployment/cronlatch-operator --tail=20 >&2 || true
    stop_here "helm could not install the chart"
  }
}

await_rollout() {  # await_rollout NAMESPACE DEPLOYMENT
  kubectl -n "$1" rollout status deployment "$2" --timeout=90s >/dev/null || {
    kubectl -n "$1" describe pods -l "app=$2" | tail -n 20 >&2
    stop_here "deployment $1/$2 did not become ready"
  }
}

print_next_steps() {
  local named=''
  [ "$NAME" = "$DEFAULT_CLUSTER" ] || named=" $NAME"
  cat <<TEXT

The cluster $NAME is running, with cronlatch installed. Example commands, in namespace demo (Pod Security level restricted):

  ./dev cluster kubectl$named -- apply -f manifests/examples/nightly.yaml
  ./dev cluster kubectl$named -- -n demo annotate cronjob nightly cronlatch.dev/lock=true
  ./dev cluster kubectl$named -- -n demo create job one --from=cronjob/nightly
  ./dev cluster kubectl$named -- -n demo create job two --from=cronjob/nightly
  ./dev cluster kubectl$named -- -n demo get jobs,pods,events
  ./dev cluster kubectl$named -- -n store exec deploy/client -- cronlatch ls
  ./dev cluster down$named
TEXT
}
