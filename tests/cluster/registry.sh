# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A real registry with TLS for one scenario, in the cluster's network, and functions that push images to it. The operator
# finds it by the name of a Service; containerd reads its address from a file. The chart here lists the registries of the
# scenarios that have one (REGISTRIES in scripts/cluster_product.sh). Sourced after lib.sh, when the namespace exists.

# shellcheck source=scripts/cluster_product_image.sh
source "$ROOT/scripts/cluster_product_image.sh"

REGISTRY=registry.$NS.svc.cluster.local:5000  # as in the names of images
REGISTRY_HOME=$DIR/registry/$NS
REGISTRY_LOG=registry-$NS
# A new tag for each run: the operator has not looked it up, also when the scenario runs repeatedly on one cluster.
TAG=t$(date +%s%N)
BUILDAH=(buildah --root "$BUILDAH_ROOT/root" --runroot "$BUILDAH_ROOT/run")  # the same as buildah_here, as arguments of other programs
# Proxies of this machine are not reachable from the cluster's network.
directly() { in_cluster env -u HTTP_PROXY -u HTTPS_PROXY -u http_proxy -u https_proxy "$@"; }

make_registry() {
  stop_registry  # it may remain from a run that was killed
  rm -rf -- "$REGISTRY_HOME"
  mkdir -p "$REGISTRY_HOME"/{images,trusted,layers}
  REGISTRY_ADDRESS=$NODE_IP:$(free_port)
  cp "$DIR/registry"/ca.{crt,key} "$REGISTRY_HOME/"  # a copy, because each CA file has its own serial number and scenarios run in parallel
  cp "$DIR/registry/ca.crt" "$REGISTRY_HOME/trusted/"
  leaf "$REGISTRY_HOME/server" /CN=registry "DNS:${REGISTRY%:*},IP:$NODE_IP"
  cat >"$REGISTRY_HOME/config.yml" <<YAML
version: 0.1
log: {level: info}
storage: {filesystem: {rootdirectory: "$REGISTRY_HOME/images"}}
http:
  addr: "$REGISTRY_ADDRESS"
  tls: {certificate: "$REGISTRY_HOME/server.crt", key: "$REGISTRY_HOME/server.key"}
YAML
  name_registry
  start_registry
}

# Pods resolve the name by a Service without a selector, containerd by a file.
name_registry() {
  local folder=$DIR/containerd/registries/$REGISTRY
  k apply -f - >/dev/null <<YAML
apiVersion: v1
kind: Service
metadata: {name: registry}
spec: {ports: [{name: https, port: ${REGISTRY#*:}}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: registry, labels: {kubernetes.io/service-name: registry}}
addressType: IPv4
endpoints: [{addresses: [$NODE_IP]}]
ports: [{name: https, port: ${REGISTRY_ADDRESS#*:}}]
YAML
  mkdir -p "$folder"
  cat >"$folder/hosts.toml" <<TOML
server = "https://$REGISTRY_ADDRESS"
[host."https://$REGISTRY_ADDRESS"]
  ca = "$REGISTRY_HOME/ca.crt"
TOML
}

start_registry() {
  start "$REGISTRY_LOG" env OTEL_TRACES_EXPORTER=none docker-registry serve "$REGISTRY_HOME/config.yml"
  wait_until 30 registry_answers || { tail "$DIR/log/$REGISTRY_LOG.log" && fail "docker-registry did not start within 30 s" && finish; }
}
stop_registry() { stop_program "$REGISTRY_LOG" 10; }
registry_answers() { directly curl -sf --cacert "$REGISTRY_HOME/ca.crt" "https://$REGISTRY_ADDRESS/v2/" >/dev/null; }

# make_layers: builds the base image localhost/argv: busybox, and at /bin/argv and /app/argv a program that prints `ran`
# and its arguments as JSON (one character for each byte).
make_layers() {
  local folder=$REGISTRY_HOME/layers
  mkdir -p "$folder"/{bin,app}
  add_users "$folder"
  static_program "$folder/bin/argv" '#include <stdio.h>
    #include <unistd.h>
    static void text(const char* word) {
      putchar(34);
      for (; *word; ++word) {
        const unsigned char byte = (unsigned char)*word;
        if (byte < 32 || byte > 126 || byte == 34 || byte == 92) printf("\\u%04x", byte); else putchar(byte);
      }
      putchar(34);
    }
    int main(int count, char** words) {
      char folder[4096];
      printf("ran {\"cwd\":");
      text(getcwd(folder, sizeof folder));
      printf(",\"argv\":[");
      for (int i = 0; i < count; ++i) { if (i) putchar(44); text(words[i]); }
      puts("]}");
      return 0;
    }'
  cp "$folder/bin/argv" "$folder/app/"
  cp /bin/busybox "$folder/bin/"
  ln -sf busybox "$folder/bin/sh"
  # shellcheck disable=SC2016  # the variables of the script
  printf '#!/bin/sh\nexec /bin/argv "$0" "$@"\n' >"$folder/entry.sh"
  chmod 755 "$folder/entry.sh"
  build argv <<<'FROM scratch
COPY . /
ENV PATH=/bin WHO="a user of the image"
USER 65534:65534'
}

# build NAME: the image localhost/<namespace>/NAME from a Dockerfile on stdin.
build() {
  local file=$REGISTRY_HOME/$1.Dockerfile
  cat >"$file"
  by_buildah buildah_here bud --isolation=chroot --pull-never --timestamp 0 --tag "localhost/$NS/$1" --build-arg "ARGV=localhost/$NS/argv" \
    --file "$file" "$REGISTRY_HOME/layers"
}
# push NAME [buildah's options]: pushes the image as NAME.
push() {
  local name=$1
  shift
  by_buildah directly "${BUILDAH[@]}" push --cert-dir "$REGISTRY_HOME/trusted" "$@" "localhost/$NS/$name" "$(address_of "$name")"
}
by_buildah() { "$@" >"$REGISTRY_HOME/buildah.log" 2>&1 || { fail "buildah failed: $*" && show <"$REGISTRY_HOME/buildah.log" && finish; }; }

# image NAME [buildah's options]: builds a Dockerfile from stdin on the image of make_layers, and pushes it.
image() {
  # The operator caches a configuration by its digest. The label makes this digest new.
  { printf "ARG ARGV\nFROM \$ARGV\nLABEL tag=%s\n" "$TAG"; cat; } | build "$1"
  push "$@"
}
# other_platform NAME [options of buildah config]: replaces NAME in the registry by a manifest list of the image and a copy
# of it for another architecture, with these options.
other_platform() {
  local container name=$1 list=localhost/$NS/$1-list other=arm64
  shift
  [ "$(dpkg --print-architecture)" != arm64 ] || other=amd64
  container=$(buildah_here from --pull-never "localhost/$NS/$name")
  by_buildah buildah_here config --arch "$other" "$@" "$container"
  by_buildah buildah_here commit --rm "$container" "localhost/$NS/$name-$other"
  buildah_here manifest rm "$list" >/dev/null 2>&1
  by_buildah buildah_here manifest create "$list" "localhost/$NS/$name" "localhost/$NS/$name-$other"
  by_buildah directly "${BUILDAH[@]}" manifest push --all --cert-dir "$REGISTRY_HOME/trusted" "$list" "$(address_of "$name")"
}
# in_schema_2 NAME: converts the manifest that buildah pushed to the format that Docker pushes.
in_schema_2() {
  local trusted=$REGISTRY_HOME/trusted
  directly skopeo --insecure-policy copy --quiet --format v2s2 --src-cert-dir "$trusted" --dest-cert-dir "$trusted" "$(address_of "$1")" "$(address_of "$1")" ||
    { fail "skopeo failed to copy $1" && finish; }
}

in_registry() { echo "$REGISTRY/any/$1:$TAG"; }  # in_registry NAME: as in a pod's `image`
address_of() { echo "docker://$REGISTRY_ADDRESS/any/$1:$TAG"; }
