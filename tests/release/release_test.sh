#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev release: two builds in two folders give the same files; checksums, signature and SBOM hold; the packages install
# and can be removed; the images and the chart can be pushed and read; the quick start works from them. It compiles three
# programs twice: long.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../binary/lib.sh"
# shellcheck source=packaging/project.env
source "$ROOT/packaging/project.env"
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

# ---- two builds ----
cosign=$(bash scripts/release/cosign.sh) || skip "signatures" "cosign cannot be built here"
if [ -n "$cosign" ]; then
  export COSIGN_PASSWORD=test COSIGN_KEY=$STAGE/cosign.key
  check "cosign creates a key" "$cosign" generate-key-pair --output-key-prefix "$STAGE/cosign"
fi
check "a release is made" env DIST="$FIRST" bash scripts/release.sh "$VERSION"
# A copy of the working tree in another folder, with the history of this one, and without its builds.
mkdir "$STAGE/tree"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$STAGE/tree"
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
related() { jq -r --arg kind "$1" '.relationships[] | select(.relationshipType == $kind).relatedSpdxElement | ltrimstr("SPDXRef-deb-")' "$2"; }
links() { related STATIC_LINK "cronlatch_${VERSION}_amd64.deb.spdx.json" | grep -qx "$1"; }
for library in libssl-dev libhiredis-dev libc-ares-dev libyaml-cpp-dev libc6-dev; do
  check "the SBOM of the deb contains $library" links $library
done

# ---- deb and rpm ----
mkdir "$STAGE/root"
mkdir -p "$STAGE"/root/var/lib/dpkg/{info,updates}
touch "$STAGE/root/var/lib/dpkg/status"
in_root=(dpkg --root="$STAGE/root" --force-not-root --force-script-chrootless --log="$STAGE/dpkg.log")
files_of_root() { (cd "$STAGE/root" && find . ! -path './var/*' ! -name . ! -name var | sort); }
check "dpkg installs the deb into an empty root" "${in_root[@]}" --install "cronlatch_${VERSION}_amd64.deb"
version_there() { [ "$(chroot "$STAGE/root" /usr/bin/cronlatch version)" = "cronlatch $VERSION" ]; }
check "the program runs there, without a library" version_there
check "the plugin runs there" chroot "$STAGE/root" /usr/bin/kubectl-cronlatch help
for file in share/man/man1/cronlatch.1.gz share/man/man1/kubectl-cronlatch.1.gz share/bash-completion/completions/cronlatch \
  share/zsh/vendor-completions/_cronlatch share/fish/vendor_completions.d/cronlatch.fish bin/kubectl_complete-cronlatch \
  share/doc/cronlatch/examples/report.timer share/doc/cronlatch/copyright share/doc/cronlatch/licenses/libssl-dev/copyright; do
  check "the deb contains usr/$file" test -s "$STAGE/root/usr/$file"
done
check "man displays the page" man --local-file "$STAGE/root/usr/share/man/man1/cronlatch.1.gz"
accepted_by_systemd() {
  install -D -m 644 -t "$STAGE/root/etc/systemd/system" "$STAGE"/root/usr/share/doc/cronlatch/examples/report.*
  systemd-analyze verify --man=no --recursive-errors=no --root="$STAGE/root" report.timer report.service
}
check "systemd accepts the example" accepted_by_systemd
rm -rf "$STAGE/root/etc"
same_content() { diff <(cd "$STAGE/root" && find usr ! -type d | sort) <(rpm --query --list --package "cronlatch-$VERSION-1.x86_64.rpm" 2>/dev/null | sed 's,^/,,' | while read -r file; do [ -d "$STAGE/root/$file" ] || echo "$file"; done | sort); }
check "the rpm contains the same files" same_content
only_own_folders() { ! rpm --query --list --package "cronlatch-$VERSION-1.x86_64.rpm" 2>/dev/null | grep -xE '/usr(/bin|/share(/man(/man1)?|/doc)?)?'; }
check "the rpm owns no folder of the system" only_own_folders
check "dpkg removes it" "${in_root[@]}" --purge cronlatch
nothing_left() { [ -z "$(files_of_root)" ] || { files_of_root && return 1; }; }
check "nothing is left" nothing_left
mkdir "$STAGE/rpmroot"
check "rpm installs the rpm into an empty root" rpm --root "$STAGE/rpmroot" --install --nodeps --noscripts "cronlatch-$VERSION-1.x86_64.rpm"
check "its program runs there" chroot "$STAGE/rpmroot" /usr/bin/cronlatch version
check "rpm removes it" rpm --root "$STAGE/rpmroot" --erase cronlatch
rpm_left() { local left; left=$(find "$STAGE/rpmroot/usr" ! -type d 2>/dev/null); [ -z "$left" ] || { echo "$left" && return 1; }; }
check "no file is left" rpm_left

# ---- krew ----
krew() { "$YQ" -r "$1" cronlatch.krew.yaml; }
krew_matches() { [ "$(krew '.spec.platforms[0].sha256')" = "$(sha256sum <"$(basename "$(krew '.spec.platforms[0].uri')")" | cut -d ' ' -f 1)" ]; }
check "the krew manifest has the checksum of its archive" krew_matches
krew_contains() { tar -tzf "$(basename "$(krew '.spec.platforms[0].uri')")" "./$(krew '.spec.platforms[0].bin')"; }
check "the archive contains the program" krew_contains

# ---- images and chart, through a registry ----
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$STAGE/registry.yml" <<YAML
version: 0.1
storage: {filesystem: {rootdirectory: $STAGE/registry}}
http: {addr: "127.0.0.1:$port"}
YAML
docker-registry serve "$STAGE/registry.yml" >"$STAGE/registry.log" 2>&1 &
REGISTRY_PID=$!
LOCAL=127.0.0.1:$port/cronlatch
answers() { python3 -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:$port/v2/')"; }
check "a registry answers" wait_until 20 answers
check "images and chart are pushed" env DIST="$FIRST" PLAIN_HTTP=1 bash "$ROOT/scripts/release/push.sh" "$VERSION" "$LOCAL"
inspect() { skopeo inspect --tls-verify=false "docker://$LOCAL/$1:$VERSION"; }
has_labels() { inspect "$1" | jq --exit-status --arg version "$VERSION" --arg source "$SOURCE" --arg revision "$(git -C "$ROOT" rev-parse HEAD)" '.Architecture == "amd64"
  and .Labels["org.opencontainers.image.version"] == $version and .Labels["org.opencontainers.image.source"] == $source
  and (.Labels["org.opencontainers.image.revision"] | startswith($revision))' >/dev/null; }
for image in cronlatch cronlatch-wrapper; do
  check "$image has its labels" has_labels $image
  skopeo copy --quiet --src-tls-verify=false "docker://$LOCAL/$image:$VERSION" "dir:$STAGE/$image"
  mkdir "$STAGE/$image.root"
  tar -C "$STAGE/$image.root" -xzf "$STAGE/$image/$(jq -r '.layers[0].digest | ltrimstr("sha256:")' "$STAGE/$image/manifest.json")"
  check "$image: the wrapper runs in it" chroot "$STAGE/$image.root" /cronlatch version
done
small() { [ "$(stat -c %s "$FIRST/cronlatch-wrapper_${VERSION}_linux_amd64.oci.tar")" -lt 4000000 ]; }
check "the wrapper's image has less than 4 MB" small
root=$STAGE/cronlatch.root
check "the operator runs in its image" chroot "$root" /cronlatch-operator version
check "skopeo runs in it" chroot "$root" /usr/bin/skopeo --version
check "it has the time zones of schedules" cmp "$root/usr/share/zoneinfo/Europe/Berlin" /usr/share/zoneinfo/Europe/Berlin
sbom_is_status() { diff <(related CONTAINS "cronlatch_${VERSION}_linux_amd64.oci.tar.spdx.json" | tr - _ | sort) <(find "$root/var/lib/dpkg/status.d" -type f -printf '%f\n' | sed 's/[^A-Za-z0-9.-]/-/g' | tr - _ | sort); }
check "its SBOM lists the packages of its dpkg data" sbom_is_status
each_is_owned() {  # each library that the loader loads belongs to a listed package
  local file
  for file in $(cd "$root" && find . -name '*.so*' -type f -printf '%f\n'); do
    dpkg-query --search "*/$file*" 2>/dev/null | sed 's/:.*//' | sort -u | grep -qxF -f <(find "$root/var/lib/dpkg/status.d" -type f -printf '%f\n') ||
      { echo "$file" && return 1; }
  done
}
check "each library of it belongs to one of them" each_is_owned
pull() { (cd "$STAGE" && "$HELM" pull "oci://$LOCAL/charts/cronlatch" --version "$VERSION" --plain-http) && cmp "$STAGE/cronlatch-$VERSION.tgz" "$FIRST/cronlatch-$VERSION.tgz"; }
check "helm pulls the chart, and it is the file of the release" pull
renders() { "$HELM" template cronlatch "$FIRST/cronlatch-$VERSION.tgz" --kube-version "$KUBE_VERSION" --set store.url=rediss://redis.shop.svc.cluster.local. | grep -qF "image: \"$REGISTRY/cronlatch:$VERSION\""; }
check "the chart installs the image of $REGISTRY" renders
if [ -n "$cosign" ]; then
  for image in cronlatch cronlatch-wrapper charts/cronlatch; do
    check "the signature of $image holds" "$cosign" verify --insecure-ignore-tlog=true --allow-http-registry --key "$FIRST/cosign.pub" "$LOCAL/$image:$VERSION"
  done
fi
# The commands of docs/quickstart.md, on a new cluster, from these files alone.
if unshare --net true 2>/dev/null; then
  check "the quick start ends with a run, a skipped run, its Event and its metric" bash "$ROOT/scripts/cluster.sh" quickstart "$FIRST"
else
  skip "the quick start" "network namespaces cannot be created on this machine"
fi
refuses "another version is refused" bash "$ROOT/scripts/release.sh" 99.0.0
finish
