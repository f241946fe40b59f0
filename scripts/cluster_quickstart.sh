# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev cluster quickstart [DIST]: executes the commands of docs/quickstart.md, as they are written there, on a new
# cluster. The files of DIST come from a registry of the cluster with the names of the public registries, and from a server
# with the name of the release's host. Sourced.
# shellcheck disable=SC2153  # use_cluster sets NAME and similar variables

# shellcheck source=packaging/project.env
source "$ROOT/packaging/project.env"
# shellcheck source=scripts/chart.sh
source "$ROOT/scripts/chart.sh"
# shellcheck source=scripts/quickstart_page.sh
source "$ROOT/scripts/quickstart_page.sh"

quickstart() {
  local dist started=$SECONDS version
  unset REGISTRY_AUTH_FILE  # a login of skopeo, which docker-registry would read as its own setting
  dist=$(realpath -- "${1:-$ROOT/dist}")
  version=$(sed -nE 's/^project\(cronlatch VERSION ([0-9.]+).*/\1/p' "$ROOT/CMakeLists.txt")
  [ -s "$dist/SHA256SUMS" ] || stop_here "$dist contains no release: run ./dev release $version first"
  (cd "$dist" && sha256sum --check --quiet SHA256SUMS) || stop_here "the files in $dist differ from its SHA256SUMS: run ./dev release $version"
  bash "$SCRIPTS/cluster_tools.sh" ''
  use_cluster quickstart
  lock_cluster
  select_kubernetes ''
  make_images
  trap take_down_quickstart EXIT
  bring_up
  read_addresses
  prepare_registry
  serve_files "$dist" "$version"
  push_release "$dist" "$version"
  prepare_volume
  run_page
  step "the quick start ended as its page describes, $((SECONDS - started)) s after the start of the cluster"
}

take_down_quickstart() {
  local status=$?
  step "stopping the cluster"
  disown -a  # no message about each program that is killed
  stop_program files 10
  stop_program registry 10
  take_down
  exit $status
}

# One registry for all names. containerd reads its address from a file for each name.
prepare_registry() {
  local home=$DIR/registry name names=("${REGISTRY%%/*}" docker.io registry-1.docker.io)
  step "a registry with the names ${names[*]}"
  authority "$home" "registries of $NAME"
  leaf "$home/server" /CN=registry "$(printf 'DNS:%s,' "${names[@]}")IP:$NODE_IP"
  printf '127.0.0.1 localhost\n127.0.0.2 %s\n%s %s\n' "$SOURCE_HOST" "$NODE_IP" "${names[*]}" >"$home/hosts"
  for name in "${names[@]:0:2}"; do
    mkdir -p "$DIR/containerd/registries/$name"
    printf 'server = "https://%s"\n[host."https://%s"]\n  ca = "%s"\n' "$NODE_IP" "$NODE_IP" "$home/ca.crt" \
      >"$DIR/containerd/registries/$name/hosts.toml"
  done
  cat >"$home/config.yml" <<YAML
version: 0.1
storage: {filesystem: {rootdirectory: "$home/images"}}
http: {addr: "$NODE_IP:443", tls: {certificate: "$home/server.crt", key: "$home/server.key"}}
YAML
  start registry env OTEL_TRACES_EXPORTER=none docker-registry serve "$home/config.yml"
  must_become 30 "the registry answers" registry as_public curl --silent --fail --cacert "$home/ca.crt" "https://${names[0]}/v2/"
}

# push_release DIST VERSION: the release, and the two other images of the page. Redis takes the place of Valkey.
push_release() {
  local dist=$1 version=$2 image valkey
  step "pushing $dist to $REGISTRY"
  DIST=$dist as_public bash "$SCRIPTS/release/push.sh" "$version" "$REGISTRY"
  if [ -n "${COSIGN_KEY:-}" ]; then
    for image in cronlatch charts/cronlatch; do
      as_public "$(bash "$SCRIPTS/release/cosign.sh")" verify --insecure-ignore-tlog=true --key "$dist/cosign.pub" "$REGISTRY/$image:$version" >/dev/null
    done
    step "the signatures in the registry are valid"
  fi
  valkey=$("$YQ" -r '.redis.image | "\(.registry)/\(.repository):\(.tag)"' "$ROOT/charts/cronlatch/values.yaml")
  as_public skopeo copy --quiet "docker-archive:$IMAGES/redis.tar" "docker://$valkey"
  as_public skopeo copy --quiet "docker-archive:$IMAGES/shell.tar" docker://docker.io/library/busybox:1.36
}

# Clusters of kind and minikube create volumes on demand. Here the volume of Redis exists before it is claimed.
prepare_volume() {
  mkdir -m 777 "$DIR/volume"
  kubectl apply -f - >/dev/null <<YAML
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: standard, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: kubernetes.io/no-provisioner
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: redis}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: standard
  hostPath: {path: "$DIR/volume"}
YAML
}
