#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev release VERSION [push [REGISTRY]]: makes dist/ (docs/RELEASING.md lists its files). Two runs on the same commit and
# the same packages of Debian give the same files, signatures aside. DIST sets another folder. COSIGN_KEY is the key of
# the signatures: a file, or env://NAME; its password is COSIGN_PASSWORD. Without a key nothing is signed.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/release/stage.sh
source "$ROOT/scripts/release/stage.sh"
# shellcheck source=packaging/project.env
source "$ROOT/packaging/project.env"
cd "$ROOT"

stop_here() {
  echo "./dev release: $*" >&2
  exit 64
}

[ $# -ge 1 ] || stop_here "the version is missing: ./dev release 0.1.0"
VERSION=$1
project=$(sed -nE 's/^project\(cronlatch VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
[ "$VERSION" = "$project" ] ||
  stop_here "version '$VERSION' is not that of the source, $project: change it as docs/RELEASING.md describes, or write ./dev release $project"
case $(dpkg --print-architecture) in
  amd64) DEB_ARCHITECTURE=amd64 RPM_ARCHITECTURE=x86_64 ;;
  *) stop_here "a release is built on amd64, not on $(dpkg --print-architecture)" ;;
esac

DIST=${DIST:-$ROOT/dist}
REVISION=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
[ -z "$(git status --porcelain)" ] || { REVISION+=-modified && echo "./dev release: the working tree has changes that are not committed" >&2; }
export VERSION DEB_ARCHITECTURE RPM_ARCHITECTURE SOURCE MAINTAINER SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8
umask 022
STAGE=$(mktemp -d)
trap 'rm -rf -- "$STAGE"' EXIT
PLATFORM=linux_$DEB_ARCHITECTURE

# pack_tar FILE FOLDER: reproducible.
pack_tar() {
  tar --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$2" -c . | gzip --no-name >"$1"
}
joined() { local IFS=, && echo "$*"; }

make_packages() {
  local plugin=$STAGE/plugin generator
  say "deb, rpm, tarballs"
  stage_package "$STAGE/package"
  find "$STAGE/package" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
  for generator in DEB RPM; do
    TREE=$STAGE/package OUT=$STAGE/cpack cpack --config packaging/cpack.cmake -G $generator -B "$STAGE/cpack" >"$STAGE/cpack.log" 2>&1 ||
      { cat "$STAGE/cpack.log" >&2 && return 1; }
  done
  mv "$STAGE"/cpack/*.deb "$STAGE"/cpack/*.rpm "$DIST/"
  pack_tar "$DIST/cronlatch_${VERSION}_$PLATFORM.tar.gz" "$STAGE/package/usr"
  install -D -m 755 "$PLUGIN" "$plugin/kubectl-cronlatch"
  install -m 755 packaging/completions/kubectl_complete-cronlatch "$plugin/"
  install -m 644 LICENSE "$plugin/"
  pack_tar "$DIST/kubectl-cronlatch_${VERSION}_$PLATFORM.tar.gz" "$plugin"
}

# image NAME FOLDER CONFIG DESCRIPTION
image() {
  local name=$1
  python3 -B scripts/release/oci.py image --root "$2" --architecture "$DEB_ARCHITECTURE" --config "$3" --tag "$VERSION" \
    --out "$DIST/${name}_${VERSION}_$PLATFORM.oci.tar" \
    --label org.opencontainers.image.title="$name" --label org.opencontainers.image.description="$4" \
    --label org.opencontainers.image.licenses=Apache-2.0 --label org.opencontainers.image.source="$SOURCE" \
    --label org.opencontainers.image.revision="$REVISION" --label org.opencontainers.image.version="$VERSION"
}
make_images() {
  say "images"
  stage_wrapper "$STAGE/wrapper"
  image cronlatch-wrapper "$STAGE/wrapper" '{"Entrypoint":["/cronlatch"],"User":"65532:65532"}' "the program cronlatch alone"
  stage_operator "$STAGE/operator"
  image cronlatch "$STAGE/operator" \
    '{"Entrypoint":["/cronlatch"],"User":"65532:65532","Env":["SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"]}' \
    "One run at a time for annotated CronJobs: wrapper and operator"
}

# helm writes the time into its package; the files are packed again.
make_chart() {
  find_helm || stop_here "helm not found: ./dev cluster up builds it, or set HELM"
  say "chart"
  "$HELM" package charts/cronlatch --destination "$STAGE" >/dev/null
  mkdir "$STAGE/chart"
  tar -C "$STAGE/chart" -xzf "$STAGE/cronlatch-$VERSION.tgz"
  tar --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$STAGE/chart" -c cronlatch |
    gzip --no-name >"$DIST/cronlatch-$VERSION.tgz"
  "$YQ" . charts/cronlatch/Chart.yaml |
    python3 -B scripts/release/oci.py chart --chart "$DIST/cronlatch-$VERSION.tgz" --tag "$VERSION" \
      --out "$DIST/cronlatch-chart_$VERSION.oci.tar" --label org.opencontainers.image.title=cronlatch \
      --label org.opencontainers.image.description="$("$YQ" -r .description charts/cronlatch/Chart.yaml)" \
      --label org.opencontainers.image.source="$SOURCE" --label org.opencontainers.image.revision="$REVISION" \
      --label org.opencontainers.image.version="$VERSION"
}

make_krew() {
  local file=kubectl-cronlatch_${VERSION}_$PLATFORM.tar.gz
  cat >"$DIST/cronlatch.krew.yaml" <<YAML
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: cronlatch
spec:
  version: v$VERSION
  homepage: $SOURCE
  shortDescription: Locks of CronJobs that cronlatch gates
  description: |
    Lists the CronJobs that have a lock, and explains why a run was skipped. It reads the
    cluster with kubectl.
  platforms:
    - selector:
        matchLabels: {os: linux, arch: $DEB_ARCHITECTURE}
      uri: $SOURCE/releases/download/v$VERSION/$file
      sha256: $(sha256sum <"$DIST/$file" | cut -d ' ' -f 1)
      bin: kubectl-cronlatch
YAML
}

make_sboms() {
  local file programs operator relations
  say "SBOM of each file"
  programs=STATIC_LINK=$(joined "${PROGRAMS[@]}") operator=CONTAINS=$(joined "${OPERATOR[@]}")
  for file in "$DIST"/*.{deb,rpm,tar.gz,oci.tar,tgz}; do
    case ${file##*/} in
      cronlatch-chart_* | *.tgz) relations=() ;;  # text
      cronlatch-wrapper_*) relations=("STATIC_LINK=$(joined "${WRAPPER[@]}")" BUILD_TOOL_OF=g++-12) ;;
      kubectl-cronlatch_*) relations=("STATIC_LINK=$(joined "${PLUGIN_PACKAGES[@]}")" BUILD_TOOL_OF=g++-12) ;;
      cronlatch_*.oci.tar) relations=("$programs" "$operator" BUILD_TOOL_OF=g++-12) ;;
      *) relations=("$programs" BUILD_TOOL_OF=g++-12) ;;
    esac
    python3 -B scripts/release/sbom.py "$file" "$VERSION" "${relations[@]}" >"$file.spdx.json"
  done
}

sign() {
  local cosign
  (cd "$DIST" && sha256sum -- * >"$STAGE/SHA256SUMS" && mv "$STAGE/SHA256SUMS" .)
  if [ -z "${COSIGN_KEY:-}" ]; then
    echo "./dev release: COSIGN_KEY is not set: nothing is signed" >&2
    return
  fi
  cosign=$(bash scripts/release/cosign.sh)
  "$cosign" sign-blob --yes --tlog-upload=false --key "$COSIGN_KEY" --output-signature "$DIST/SHA256SUMS.sig" "$DIST/SHA256SUMS"
  "$cosign" public-key --key "$COSIGN_KEY" >"$DIST/cosign.pub"
}

# shellcheck source=scripts/chart.sh
source "$ROOT/scripts/chart.sh"
for preset in release operator; do build_preset $preset; done
rm -rf -- "$DIST"
mkdir -p "$DIST"
find_packages || stop_here "the packages of the libraries were not found: a release is built on Debian"
make_packages
make_images
make_chart
make_krew
make_sboms
sign
(cd "$DIST" && ls -l)
[ "${2:-}" != push ] || DIST=$DIST bash scripts/release/push.sh "$VERSION" "${3:-$REGISTRY}"
