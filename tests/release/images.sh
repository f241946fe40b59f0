# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Checks of the images of a release in a registry, for one architecture. Sourced by release_test.sh, which sets VERSION,
# STAGE and LOCAL, the registry.
# shellcheck disable=SC2153  # release_test.sh sets the variables

index_of() { skopeo inspect --raw --tls-verify=false "docker://$LOCAL/$1:$VERSION"; }
platforms_of() { index_of "$1" | jq -r '.manifests[] | .platform | .os + "/" + .architecture' | paste -sd ' '; }
digest_for() { index_of "$1" | jq -r --arg wanted "$2" '.manifests[] | select(.platform.architecture == $wanted).digest'; }
is_index() { platforms_of "$1" && [ "$(platforms_of "$1")" = "linux/amd64 linux/arm64" ]; }

check_image() {  # IMAGE ARCHITECTURE
  local image=$1 architecture=$2 copy=$STAGE/$1.$2 root=$STAGE/$1.$2.root
  check "$image lists both architectures" is_index "$image"
  check "a client for $architecture gets $image" skopeo copy --quiet --override-arch "$architecture" --src-tls-verify=false "docker://$LOCAL/$image:$VERSION" "dir:$copy"
  check "$image: it is the image for $architecture" is_chosen
  check "$image for $architecture has its labels" has_labels
  mkdir "$root"
  tar -C "$root" -xzf "$copy/$(jq -r '.layers[0].digest | ltrimstr("sha256:")' "$copy/manifest.json")"
  check "$image: each program and library in it is for $architecture" has_only "$root" "$architecture"
  runs "$architecture" "$image: the wrapper runs in it" chroot "$root" /cronlatch version
}
is_chosen() { [ "sha256:$(sha256sum <"$copy/manifest.json" | cut -d ' ' -f 1)" = "$(digest_for "$image" "$architecture")" ]; }
has_labels() {
  jq --exit-status --arg version "$VERSION" --arg source "$SOURCE" --arg revision "$(git -C "$ROOT" rev-parse HEAD)" --arg architecture "$architecture" \
    '.architecture == $architecture and .os == "linux" and (.config.Labels | .["org.opencontainers.image.version"] == $version
      and .["org.opencontainers.image.source"] == $source and (.["org.opencontainers.image.revision"] | startswith($revision)))' \
    "$copy/$(jq -r '.config.digest | ltrimstr("sha256:")' "$copy/manifest.json")"
}
has_only() {  # ROOT ARCHITECTURE
  local file count=0
  while read -r file; do
    [ "$(head -c 4 "$file" | tail -c 3)" = ELF ] || continue
    count=$((count + 1))
    "is_for_$2" "$file" >/dev/null || { echo "$file" && return 1; }
  done < <(find "$1" -type f -size +3c \( -perm -u+x -o -name '*.so*' \))
  [ $count -gt 0 ]
}
is_small_image() { [ "$(jq '[.layers[].size] | add' "$STAGE/$1.$2/manifest.json")" -lt 4000000 ]; }

check_operator_image() {  # ARCHITECTURE, of which check_image was called
  local architecture=$1 root=$STAGE/cronlatch.$1.root system=''
  [ "$architecture" = amd64 ] || system=$ROOT/build/sysroot/$architecture
  runs "$architecture" "the operator for $architecture runs in its image" chroot "$root" /cronlatch-operator version
  runs "$architecture" "skopeo runs in it" chroot "$root" /usr/bin/skopeo --version
  check "it has the time zones of schedules" cmp "$root/usr/share/zoneinfo/Europe/Berlin" "$system/usr/share/zoneinfo/Europe/Berlin"
  check "it has CA certificates" grep -q 'BEGIN CERTIFICATE' "$root/etc/ssl/certs/ca-certificates.crt"
  check "its SBOM lists the packages of its dpkg data" sbom_is_status
  check "each library of it belongs to one of them" each_is_owned
  check "its dpkg data is of $architecture" is_data_of
}
data_of_image() { find "$root/var/lib/dpkg/status.d" -type f -printf '%f\n' | sort; }
sbom_is_status() { diff <(related CONTAINS "cronlatch_$VERSION.oci.tar.spdx.json" "-linux-$architecture" | sort) <(data_of_image); }
each_is_owned() {  # each library that the loader loads belongs to a listed package
  local file
  for file in $(cd "$root" && find . -name '*.so*' -type f -printf '%f\n'); do
    dpkg-query --admindir="$system/var/lib/dpkg" --search "*/$file*" 2>/dev/null | sed 's/:.*//' | sort -u | grep -qxF -f <(data_of_image) ||
      { echo "$file" && return 1; }
  done
}
is_data_of() { cat "$root"/var/lib/dpkg/status.d/* | grep '^Architecture:' | sort | uniq -c | tee /dev/stderr | awk -v wanted="$architecture" '$3 != wanted && $3 != "all" { exit 1 }'; }

# With the containerd of cluster `release`, each architecture in a namespace of its own.
node_ctr() { ctr --address "$ROOT/build/cluster/release/containerd/containerd.sock" --namespace "release-$1" "${@:2}"; }
chosen_by_containerd() {  # IMAGE ARCHITECTURE OTHER-ARCHITECTURE OPTION...: it pulls the image for the architecture alone
  local image=$1 architecture=$2 other=$3 content
  shift 3
  node_ctr "$architecture" images pull --plain-http --user releaser:secret "$@" "$LOCAL/$image:$VERSION" >/dev/null || return
  content=$(node_ctr "$architecture" content ls --quiet)
  grep -qxF "$(digest_for "$image" "$architecture")" <<<"$content" || return
  ! grep -xF "$(digest_for "$image" "$other")" <<<"$content"
}
