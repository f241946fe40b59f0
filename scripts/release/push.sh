#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/release/push.sh VERSION REGISTRY: copies the images, for all architectures, and the chart of DIST to the registry,
# and signs them there if COSIGN_KEY is set: the index and each image in it, as a client verifies either digest. The login is that of
# `skopeo login`, in the file REGISTRY_AUTH_FILE if that is set. PLAIN_HTTP=1: a registry without TLS, for tests.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

VERSION=$1 REGISTRY=$2
DIST=${DIST:-$PWD/dist}
tls=() cosign_tls=()
[ -z "${PLAIN_HTTP:-}" ] || { tls=(--dest-tls-verify=false) && cosign_tls=(--allow-http-registry); }

# cosign reads the file config.json in the folder DOCKER_CONFIG, and not REGISTRY_AUTH_FILE.
if [ -n "${REGISTRY_AUTH_FILE:-}" ]; then
  DOCKER_CONFIG=$(mktemp -d)
  export DOCKER_CONFIG
  trap 'rm -rf -- "$DOCKER_CONFIG"' EXIT
  ln -s "$(realpath -- "$REGISTRY_AUTH_FILE")" "$DOCKER_CONFIG/config.json"
fi

# push FILE NAME: copies one file of DIST.
push() {
  local name=$REGISTRY/$2 digest
  digest=$(mktemp)
  skopeo copy --quiet --all --preserve-digests "${tls[@]}" --digestfile "$digest" "oci-archive:$DIST/$1" "docker://$name:$VERSION"
  echo "$name:$VERSION@$(<"$digest")"
  if [ -n "${COSIGN_KEY:-}" ]; then
    "$(bash scripts/release/cosign.sh)" sign --yes --recursive --tlog-upload=false "${cosign_tls[@]}" --key "$COSIGN_KEY" "$name@$(<"$digest")"
  fi
  rm -f "$digest"
}

push "cronlatch_$VERSION.oci.tar" cronlatch
push "cronlatch-wrapper_$VERSION.oci.tar" cronlatch-wrapper
# helm finds a chart by its name below the registry: oci://REGISTRY/charts/cronlatch.
push "cronlatch-chart_$VERSION.oci.tar" charts/cronlatch
