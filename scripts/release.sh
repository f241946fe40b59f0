#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev release VERSION [push [REGISTRY]]: makes dist/ (docs/RELEASING.md lists its files). Two runs on the same commit and
# the same packages of Debian give the same files, signatures aside. DIST sets another folder. COSIGN_KEY is the key of
# the signatures: a file, or env://NAME; its password is COSIGN_PASSWORD. Without a key nothing is signed.
# CHART_SIGN_KEY names the key of the chart's provenance file (docs/RELEASING.md).
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/release/architecture.sh
source "$ROOT/scripts/release/architecture.sh"
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
[ "$(dpkg --print-architecture)" = amd64 ] || stop_here "a release is built on amd64, not on $(dpkg --print-architecture)"

DIST=${DIST:-$ROOT/dist}
REVISION=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
[ -z "$(git status --porcelain)" ] || { REVISION+=-modified && echo "./dev release: the working tree has changes that are not committed" >&2; }
export VERSION DEB_ARCHITECTURE RPM_ARCHITECTURE SOURCE MAINTAINER SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8
umask 022
STAGE=$(mktemp -d)
trap 'rm -rf -- "$STAGE"' EXIT

# pack_tar FILE FOLDER: reproducible.
pack_tar() {
  tar --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$2" -c . | gzip --no-name >"$1"
}
joined() { local IFS=, && echo "$*"; }

# sbom FILE ARGUMENT...: the SBOM of a file of DIST; the arguments are those of sbom.py.
sbom() {
  local file=$DIST/$1
  shift
  python3 -B scripts/release/sbom.py "$file" "$VERSION" "$@" >"$file.spdx.json"
}

# ---- of the architecture in use ----
make_packages() {
  local tree=$STAGE/$DEB_ARCHITECTURE/package plugin=$STAGE/$DEB_ARCHITECTURE/plugin generator file
  local deb=cronlatch_${VERSION}_$DEB_ARCHITECTURE.deb rpm=cronlatch-$VERSION-1.$RPM_ARCHITECTURE.rpm
  local tar=cronlatch_${VERSION}_linux_$DEB_ARCHITECTURE.tar.gz plugin_tar=kubectl-cronlatch_${VERSION}_linux_$DEB_ARCHITECTURE.tar.gz
  say "$DEB_ARCHITECTURE: deb, rpm, tarballs"
  stage_package "$tree"
  find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
  for generator in DEB RPM; do
    TREE=$tree OUT=$STAGE/cpack cpack --config packaging/cpack.cmake -G $generator -B "$STAGE/cpack" >"$STAGE/cpack.log" 2>&1 ||
      { cat "$STAGE/cpack.log" >&2 && return 1; }
  done
  mv "$STAGE/cpack/$deb" "$STAGE/cpack/$rpm" "$DIST/"
  pack_tar "$DIST/$tar" "$tree/usr"
  install -D -m 755 "$PLUGIN" "$plugin/kubectl-cronlatch"
  install -m 755 packaging/completions/kubectl_complete-cronlatch "$plugin/"
  install -m 644 LICENSE "$plugin/"
  pack_tar "$DIST/$plugin_tar" "$plugin"
  for file in "$deb" "$rpm" "$tar"; do
    sbom "$file" system="$SYSTEM" "STATIC_LINK=$(joined "${PROGRAMS[@]}")" BUILD_TOOL_OF="$COMPILER"
  done
  sbom "$plugin_tar" system="$SYSTEM" "STATIC_LINK=$(joined "${PLUGIN_PACKAGES[@]}")" BUILD_TOOL_OF="$COMPILER"
}

# What the two images have of this architecture: a folder, and arguments of sbom.py.
WRAPPER_PARTS=() OPERATOR_PARTS=()
stage_images() {
  local part=(platform="linux/$DEB_ARCHITECTURE" system="$SYSTEM" BUILD_TOOL_OF="$COMPILER")
  stage_wrapper "$STAGE/$DEB_ARCHITECTURE/wrapper"
  stage_operator "$STAGE/$DEB_ARCHITECTURE/operator"
  WRAPPER_PARTS+=("${part[@]}" "STATIC_LINK=$(joined "${WRAPPER[@]}")")
  OPERATOR_PARTS+=("${part[@]}" "STATIC_LINK=$(joined "${PROGRAMS[@]}")" "CONTAINS=$(joined "${OPERATOR[@]}")")
  # shellcheck disable=SC2016  # fields of dpkg-query
  query_packages --show --showformat='${source:Package} ${source:Version}\n' "${PROGRAMS[@]}" "${OPERATOR[@]}" |
    sort -u >"$STAGE/versions.$DEB_ARCHITECTURE"
}

# ---- of all architectures ----
# One package can be older: this machine or the sysroot lacks an update of Debian.
compare_versions() {
  local different
  different=$(join "$STAGE/versions.amd64" "$STAGE/versions.arm64" | awk '$2 != $3 { print "  " $1 ": " $2 " for amd64, " $3 " for arm64" }')
  [ -z "$different" ] ||
    printf '%s\n' "./dev release: Debian packages of different versions (apt-get upgrade, or rm -r build/sysroot):" "$different" >&2
}

# image NAME FOLDER CONFIG DESCRIPTION: of the folder of each architecture.
image() {
  local name=$1 folder=$2 architecture roots=()
  for architecture in "${ARCHITECTURES[@]}"; do roots+=(--root "$architecture=$STAGE/$architecture/$folder"); done
  python3 -B scripts/release/oci.py image "${roots[@]}" --config "$3" --tag "$VERSION" --out "$DIST/${name}_$VERSION.oci.tar" \
    --label org.opencontainers.image.title="$name" --label org.opencontainers.image.description="$4" \
    --label org.opencontainers.image.licenses=Apache-2.0 --label org.opencontainers.image.source="$SOURCE" \
    --label org.opencontainers.image.revision="$REVISION" --label org.opencontainers.image.version="$VERSION"
}
make_images() {
  say "images"
  image cronlatch-wrapper wrapper '{"Entrypoint":["/cronlatch"],"User":"65532:65532"}' "the program cronlatch alone"
  sbom "cronlatch-wrapper_$VERSION.oci.tar" "${WRAPPER_PARTS[@]}"
  image cronlatch operator \
    '{"Entrypoint":["/cronlatch"],"User":"65532:65532","Env":["SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"]}' \
    "One run at a time for annotated CronJobs: wrapper and operator"
  sbom "cronlatch_$VERSION.oci.tar" "${OPERATOR_PARTS[@]}"
}

# helm writes the time into its package; the files are packed again.
make_chart() {
  find_helm || stop_here "helm not found: ./dev cluster up builds it, or set HELM"
  say "chart"
  mkdir "$STAGE/chart" "$STAGE/source"
  cp -r charts/cronlatch "$STAGE/source/"
  bash scripts/release/sign_key.sh "$STAGE/source/cronlatch/Chart.yaml"
  "$HELM" package "$STAGE/source/cronlatch" --destination "$STAGE" >/dev/null
  tar -C "$STAGE/chart" -xzf "$STAGE/cronlatch-$VERSION.tgz"
  tar --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$STAGE/chart" -c cronlatch |
    gzip --no-name >"$DIST/cronlatch-$VERSION.tgz"
  "$YQ" . "$STAGE/source/cronlatch/Chart.yaml" |
    python3 -B scripts/release/oci.py chart --chart "$DIST/cronlatch-$VERSION.tgz" --tag "$VERSION" \
      --out "$DIST/cronlatch-chart_$VERSION.oci.tar" --label org.opencontainers.image.title=cronlatch \
      --label org.opencontainers.image.description="$("$YQ" -r .description charts/cronlatch/Chart.yaml)" \
      --label org.opencontainers.image.source="$SOURCE" --label org.opencontainers.image.revision="$REVISION" \
      --label org.opencontainers.image.version="$VERSION"
  sbom "cronlatch-$VERSION.tgz"  # text
  sbom "cronlatch-chart_$VERSION.oci.tar"
}

make_krew() {
  local architecture file
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
YAML
  for architecture in "${ARCHITECTURES[@]}"; do
    file=kubectl-cronlatch_${VERSION}_linux_$architecture.tar.gz
    cat >>"$DIST/cronlatch.krew.yaml" <<YAML
    - selector:
        matchLabels: {os: linux, arch: $architecture}
      uri: $SOURCE/releases/download/v$VERSION/$file
      sha256: $(sha256sum <"$DIST/$file" | cut -d ' ' -f 1)
      bin: kubectl-cronlatch
YAML
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
for preset in release release-arm64 operator operator-arm64; do build_preset $preset; done
rm -rf -- "$DIST"
mkdir -p "$DIST"
for architecture in "${ARCHITECTURES[@]}"; do
  use_architecture "$architecture"
  find_packages || stop_here "the packages of the libraries for $architecture were not found: a release is built on Debian"
  make_packages
  stage_images
done
make_images
make_chart
make_krew
compare_versions
sign
(cd "$DIST" && ls -l)
[ "${2:-}" != push ] || DIST=$DIST bash scripts/release/push.sh "$VERSION" "${3:-$REGISTRY}"
