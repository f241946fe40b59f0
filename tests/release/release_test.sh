#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev release: two builds in two folders give the same files, for amd64 and arm64; checksums, signature and SBOM hold; the
# packages install and can be removed (packages.sh); the images and the chart can be pushed and read (images.sh); the quick
# start works from them, and a cluster with version 0.1.0 is upgraded to them. It compiles six programs twice: long.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../binary/lib.sh"
# shellcheck source=tests/binary/static_program.sh
source "$ROOT/tests/binary/static_program.sh"
# shellcheck source=packaging/project.env
source "$ROOT/packaging/project.env"
# shellcheck source=tests/release/packages.sh
source "$ROOT/tests/release/packages.sh"
# shellcheck source=tests/release/images.sh
source "$ROOT/tests/release/images.sh"
cd "$ROOT" || exit 1

if [ -z "${LONG_TESTS:-}" ]; then
  skip "a release" "it takes long: LONG_TESTS=1"
  exit 0
fi
[ "$(id -u)" = 0 ] || { skip "a release" "dpkg and chroot need root" && exit 0; }
for tool in rpm cpack skopeo docker-registry chroot; do
  command -v $tool >/dev/null || { skip "a release" "$tool not found (./dev release installs it)" && exit 0; }
done
# shellcheck source=scripts/chart.sh
source "$ROOT/scripts/chart.sh"
find_helm || { skip "a release" "helm not found (./dev cluster builds it)" && exit 0; }
export HELM
STAGE=$(mktemp -d)
REGISTRY_PID=''
cleanup() {
  [ -z "$REGISTRY_PID" ] || kill "$REGISTRY_PID" 2>/dev/null
  rm -rf --one-file-system -- "$STAGE"
}
trap cleanup EXIT
VERSION=$(sed -nE 's/^project\(cronlatch VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
FIRST=$STAGE/first SECOND=$STAGE/second

# runs ARCHITECTURE SENTENCE COMMAND...: checks a command that executes programs of this architecture.
emulator=$(bash "$ROOT/scripts/with_arm64.sh" true 2>&1) && emulator=''
runs() {
  local architecture=$1 sentence=$2
  shift 2
  case $architecture in
    amd64) check "$sentence" "$@" ;;
    arm64) if [ -z "$emulator" ]; then check "$sentence" bash "$ROOT/scripts/with_arm64.sh" "$@"; else skip "$sentence" "$emulator"; fi ;;
  esac
}

# ---- two builds ----
cosign=$(bash scripts/release/cosign.sh) || skip "signatures" "cosign cannot be built here"
if [ -n "$cosign" ]; then
  export COSIGN_PASSWORD=test COSIGN_KEY=env://COSIGN_PRIVATE_KEY COSIGN_PRIVATE_KEY  # as in release.yml
  check "cosign creates a key" "$cosign" generate-key-pair --output-key-prefix "$STAGE/cosign"
  COSIGN_PRIVATE_KEY=$(<"$STAGE/cosign.key")
fi
check "a release is made" env DIST="$FIRST" bash scripts/release.sh "$VERSION"
# A copy of the working tree in another folder, with the history of this one and the same packages of Debian, and without
# its builds.
mkdir -p "$STAGE/tree/build"
cp -a build/sysroot "$STAGE/tree/build/"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --no-dereference -t "$STAGE/tree"
again() {
  (
    cd "$STAGE/tree" || exit
    GIT_DIR=$(git -C "$ROOT" rev-parse --absolute-git-dir) GIT_WORK_TREE=$PWD
    export GIT_DIR GIT_WORK_TREE
    unset ROOT
    DIST=$SECOND bash scripts/release.sh "$VERSION"
  )
}
check "a release is made in another folder" again
sums() { (cd "$1" && find . -type f ! -name '*.sig' ! -name cosign.pub -exec sha256sum {} + | sort -k 2); }
same_files() { diff <(sums "$FIRST") <(sums "$SECOND"); }
check "both releases have the same files ($(find "$FIRST" -type f | wc -l))" same_files

# ---- checksums, signature, SBOM ----
cd "$FIRST" || exit 1
check "the checksums hold" sha256sum --check --quiet SHA256SUMS
listed() { diff <(sed 's/^[0-9a-f]*  //' SHA256SUMS | sort) <(find . -type f ! -name 'SHA256SUMS*' ! -name cosign.pub -printf '%P\n' | sort); }
check "they list every file" listed
if [ -n "$cosign" ]; then
  verify=("$cosign" verify-blob --insecure-ignore-tlog=true --key cosign.pub --signature SHA256SUMS.sig)
  check "the signature holds" "${verify[@]}" SHA256SUMS
  sed 's/^./x/' SHA256SUMS >"$STAGE/changed"
  refuses "control: a changed list is refused" "${verify[@]}" "$STAGE/changed"
  base64 -d SHA256SUMS.sig >"$STAGE/signature"
  check "openssl verifies it, too" openssl dgst -sha256 -verify cosign.pub -signature "$STAGE/signature" SHA256SUMS
fi
names_the_file() {  # the checksum in each SBOM is that of its file
  local sbom
  for sbom in *.spdx.json; do
    [ "$(jq -r '.packages[] | select(.checksums) | .checksums[0].checksumValue' "$sbom")" = "$(sha256sum <"${sbom%.spdx.json}" | cut -d ' ' -f 1)" ] ||
      { echo "$sbom" && return 1; }
  done
}
check "each SBOM names its file" names_the_file
ids_exist() {
  local sbom
  for sbom in *.spdx.json; do
    jq --exit-status '([.packages[].SPDXID] + ["SPDXRef-DOCUMENT"]) as $ids
      | (($ids | unique | length) == ($ids | length)) and ([.relationships[] | .spdxElementId, .relatedSpdxElement] - $ids == [])' "$sbom" >/dev/null ||
      { echo "$sbom" && return 1; }
  done
}
check "each relationship of an SBOM has its two ends" ids_exist
# related KIND SBOM [SUBJECT]: names of the packages to which a subject, whose identifier ends so, has this relationship.
related() {
  jq -r --arg kind "$1" --arg subject "${3:-}" '(.packages | map({(.SPDXID): .name}) | add) as $names | .relationships[]
    | select(.relationshipType == $kind and (.spdxElementId | endswith($subject))) | $names[.relatedSpdxElement]' "$2"
}
links() { related STATIC_LINK "cronlatch_${VERSION}_$1.deb.spdx.json" | grep -qx "$2"; }
architectures_linked() {  # of the packages that are linked into the deb
  jq -r '[.relationships[] | select(.relationshipType == "STATIC_LINK").relatedSpdxElement] as $linked | .packages[] | select(.SPDXID | IN($linked[]))
    | .externalRefs[0].referenceLocator | capture("arch=(?<a>[a-z0-9]+)").a' "cronlatch_${VERSION}_$1.deb.spdx.json" | grep -vx all | sort -u
}
only_linked() { [ "$(architectures_linked "$1")" = "$1" ]; }
for architecture in amd64 arm64; do
  for library in libssl-dev libhiredis-dev libc-ares-dev libyaml-cpp-dev libc6-dev; do
    check "the SBOM of the deb for $architecture contains $library" links $architecture $library
  done
  check "the libraries in it are those for $architecture" only_linked $architecture
done

# ---- deb and rpm ----
check_packages amd64 x86_64
check_packages arm64 aarch64
check "the deb of both architectures has the same files" cmp "$STAGE/files.amd64" "$STAGE/files.arm64"

# ---- krew ----
krew() { "$YQ" -r ".spec.platforms[] | select(.selector.matchLabels.arch == \"$1\") | $2" cronlatch.krew.yaml; }
krew_matches() { [ "$(krew "$1" .sha256)" = "$(sha256sum <"$(basename "$(krew "$1" .uri)")" | cut -d ' ' -f 1)" ]; }
krew_contains() {
  rm -rf "$STAGE/krew" && mkdir "$STAGE/krew"
  tar -C "$STAGE/krew" -xzf "$(basename "$(krew "$1" .uri)")" && "is_for_$1" "$STAGE/krew/$(krew "$1" .bin)"
}
for architecture in amd64 arm64; do
  check "the krew manifest has the checksum of its archive for $architecture" krew_matches $architecture
  check "the archive contains the program for $architecture" krew_contains $architecture
done

# ---- images and chart, through a registry that requires a login ----
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# docker-registry accepts bcrypt only.
perl -e 'print "releaser:", crypt("secret", q($2b$05$abcdefghijklmnopqrstuu)), "\n"' >"$STAGE/htpasswd"
cat >"$STAGE/registry.yml" <<YAML
version: 0.1
storage: {filesystem: {rootdirectory: $STAGE/registry}}
http: {addr: "127.0.0.1:$port"}
auth: {htpasswd: {realm: release, path: $STAGE/htpasswd}}
YAML
docker-registry serve "$STAGE/registry.yml" >"$STAGE/registry.log" 2>&1 &
REGISTRY_PID=$!
LOCAL=127.0.0.1:$port/cronlatch
answers() { [ "$(curl --noproxy '*' --silent --output /dev/null --write-out '%{http_code}' "http://127.0.0.1:$port/v2/")" = 401 ]; }
check "a registry answers, and requires a login" wait_until 20 answers
refuses "control: without a login, nothing is pushed" env DIST="$FIRST" PLAIN_HTTP=1 bash "$ROOT/scripts/release/push.sh" "$VERSION" "$LOCAL"
# skopeo writes and reads this file, push.sh gives it to cosign; helm and the cosign of the checks get it below.
mkdir "$STAGE/login"
export REGISTRY_AUTH_FILE=$STAGE/login/config.json
log_in() { skopeo login --authfile "$REGISTRY_AUTH_FILE" --tls-verify=false --username releaser --password-stdin "${LOCAL%%/*}" <<<secret; }
check "skopeo logs in" log_in
check "images and chart are pushed" env DIST="$FIRST" PLAIN_HTTP=1 bash "$ROOT/scripts/release/push.sh" "$VERSION" "$LOCAL"
check_image cronlatch-wrapper amd64
check_image cronlatch-wrapper arm64
check_image cronlatch amd64
check_image cronlatch arm64
for architecture in amd64 arm64; do
  check "the wrapper's image for $architecture has less than 4 MB" is_small_image cronlatch-wrapper $architecture
  check_operator_image $architecture
done
pull() { (cd "$STAGE" && "$HELM" pull "oci://$LOCAL/charts/cronlatch" --version "$VERSION" --plain-http --registry-config "$REGISTRY_AUTH_FILE") && cmp "$STAGE/cronlatch-$VERSION.tgz" "$FIRST/cronlatch-$VERSION.tgz"; }
check "helm pulls the chart, and it is the file of the release" pull
renders() { "$HELM" template cronlatch "$FIRST/cronlatch-$VERSION.tgz" --kube-version "$KUBE_VERSION" --set store.url=rediss://redis.shop.svc.cluster.local. | grep -qF "image: \"$REGISTRY/cronlatch:$VERSION\""; }
check "the chart installs the image of $REGISTRY" renders
if [ -n "$cosign" ]; then
  for image in cronlatch cronlatch-wrapper charts/cronlatch; do
    check "the signature of $image holds" env DOCKER_CONFIG="$STAGE/login" "$cosign" verify --insecure-ignore-tlog=true --allow-http-registry --key "$FIRST/cosign.pub" "$LOCAL/$image:$VERSION"
  done
  # A client can also ask for the image of its architecture by its own digest.
  check "the signature of cronlatch for arm64 holds" env DOCKER_CONFIG="$STAGE/login" "$cosign" verify --insecure-ignore-tlog=true --allow-http-registry --key "$FIRST/cosign.pub" \
    "$LOCAL/cronlatch@$(digest_for cronlatch arm64)"
fi
# The commands of docs/quickstart.md, on a new cluster, from these files alone.
if unshare --net true 2>/dev/null; then
  check "the quick start ends with a run, a skipped run, its Event and its metric" bash "$ROOT/scripts/cluster.sh" quickstart "$FIRST"
else
  skip "the quick start" "network namespaces cannot be created on this machine"
fi
if unshare --net true 2>/dev/null && bash "$ROOT/scripts/baseline.sh" image >"$STAGE/baseline.log" 2>&1; then
  check "a cluster starts" bash "$ROOT/scripts/cluster.sh" up release --quick
  for image in cronlatch-wrapper cronlatch; do
    check "containerd on this node chooses $image for amd64" chosen_by_containerd "$image" amd64 arm64
    check "containerd chooses $image for arm64 where a node has it" chosen_by_containerd "$image" arm64 amd64 --platform linux/arm64
  done
  check "it is upgraded from version 0.1.0 to the release, and back" \
    env DIST="$FIRST" CLUSTER=release bash "$ROOT/tests/cluster/scenarios/upgrade_from_0_1_0.sh"
  check "the cluster stops" bash "$ROOT/scripts/cluster.sh" down release
else
  skip "the upgrade of a cluster" "network namespaces cannot be created, or version 0.1.0 cannot be built"
fi
refuses "another version is refused" bash "$ROOT/scripts/release.sh" 99.0.0
finish
