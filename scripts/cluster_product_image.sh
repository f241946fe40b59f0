# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The product's image, cronlatch.test/cronlatch:dev, in build/cluster/images/product.tar. buildah builds it from the
# Dockerfile on a base image that debootstrap creates, so that no registry is needed. --quick packs it from
# build/release and build/dev. Sourced.

BUILDAH_ROOT=$CLUSTERS/buildah
BASE_IMAGE=docker.io/library/debian:12-slim
PRODUCT_IMAGE=cronlatch.test/cronlatch:dev

buildah_here() { buildah --root "$BUILDAH_ROOT/root" --runroot "$BUILDAH_ROOT/run" "$@"; }

debian_mirror() {
  { cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null || true; } |
    sed -nE 's/^(URIs: *|deb +(\[[^]]*\] +)?)(https?:[^ ]+\/debian)\/?( .*)?$/\3/p' | sed -n 1p
}

# The base image has the package sources of this machine, so that its RUN lines use the same mirror.
make_base() {
  local tree=$CLUSTERS/base container mirror part
  if buildah_here inspect --type image "$BASE_IMAGE" >/dev/null 2>&1; then return; fi
  step "Debian 12 base image, with debootstrap (half a minute)"
  rm -rf --one-file-system -- "$tree"
  mirror=$(debian_mirror)
  debootstrap --variant=minbase bookworm "$tree" "${mirror:-http://deb.debian.org/debian}" >"$CLUSTERS/base.log" 2>&1 ||
    { tail -n 5 "$CLUSTERS/base.log" >&2; stop_here "debootstrap failed (log: build/cluster/base.log)"; }
  for part in sources.list sources.list.d apt.conf.d trusted.gpg.d keyrings; do
    rm -rf -- "$tree/etc/apt/$part"
    [ ! -e "/etc/apt/$part" ] || cp -a "/etc/apt/$part" "$tree/etc/apt/"
  done
  find "$tree/var/cache/apt" "$tree/var/lib/apt/lists" -type f -delete
  container=$(buildah_here from scratch)
  buildah_here copy --quiet "$container" "$tree" / >/dev/null
  buildah_here config --cmd bash "$container"
  buildah_here commit --quiet --rm "$container" "$BASE_IMAGE" >/dev/null
  rm -rf --one-file-system -- "$tree"
}

# A checksum of all inputs of the image.
product_fingerprint() {
  (cd "$ROOT" && find Dockerfile CMakeLists.txt CMakePresets.json cmake src -type f -print0 | sort -z |
    xargs -0 sha256sum | sha256sum | cut -d ' ' -f 1)
}

# pack_programs NAME IMAGE CRONLATCH OPERATOR [PLUGIN]: packs the programs with the operator's libraries, skopeo and the time zones.
pack_programs() {
  local name=$1 image=$2 cronlatch=$3 operator=$4 folder
  folder=$(new_root)
  add_users "$folder"
  install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/ca-certificates.crt"
  install --strip "$cronlatch" "$operator" "${@:5}" "$folder/"
  copy_libraries "$folder" "$operator"
  install -D /usr/bin/skopeo "$folder/usr/bin/skopeo"
  copy_libraries "$folder" /usr/bin/skopeo
  copy_zones "$folder"
  install -d -m 1777 "$folder/tmp"
  pack "$name" "$folder" '{"Entrypoint":["/cronlatch"],"User":"65532:65532"}' "$image"
}

# Packs the released wrapper and plugin, and the operator of the preset dev, which its tests need anyway, with their
# libraries: seconds instead of minutes.
make_quick_image() {
  step "the product's image, from the presets release and dev"
  (
    cd "$ROOT" || exit
    for preset in release dev; do configure "$preset"; done
    cmake --build build/release --parallel "$JOBS" --target cronlatch kubectl-cronlatch
    cmake --build build/dev --parallel "$JOBS" --target cronlatch-operator
  ) >&2
  pack_programs product "$PRODUCT_IMAGE" "$ROOT"/build/{release/cronlatch,dev/cronlatch-operator,release/kubectl-cronlatch}
  rm -f "$IMAGES/.product.stamp"
}

have_image() { [ -s "$IMAGES/product.tar" ] || stop_here "build/cluster/images/product.tar does not exist: run ./dev cluster up without --no-build first"; }

# Unchanged layers are reused from the last build: after a change of the operator only the operator is built again.
make_product_image() {
  local image=$IMAGES/product.tar stamp=$IMAGES/.product.stamp now start=$SECONDS
  now=$(product_fingerprint)
  if [ -s "$image" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$now" ]; then return; fi
  mkdir -p "$IMAGES" "$BUILDAH_ROOT"
  make_base
  step "the product's image, from the Dockerfile (the first build takes minutes; log: build/cluster/images/product.log)"
  nice -n 5 buildah --root "$BUILDAH_ROOT/root" --runroot "$BUILDAH_ROOT/run" bud --isolation=chroot --layers \
    --pull-never --tag "$PRODUCT_IMAGE" "$ROOT" >"$IMAGES/product.log" 2>&1 7>&- ||
    { tail -n 30 "$IMAGES/product.log" >&2; stop_here "buildah could not build the Dockerfile"; }
  rm -f "$image"
  buildah_here push --quiet "$PRODUCT_IMAGE" "docker-archive:$image:$PRODUCT_IMAGE" >/dev/null
  echo "$now" >"$stamp"
  step "the image is built: $(($(stat -c %s "$image") / 1048576)) MiB, $((SECONDS - start)) s"
}
