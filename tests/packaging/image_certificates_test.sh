#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The operator's image trusts the CA certificates of the package ca-certificates, not those that the build host adds. The
# release test (long) compares whole releases of one host, which cannot show this.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../binary/lib.sh"
HOST_FILE=/etc/ssl/certs/ca-certificates.crt
PACKAGE=/usr/share/ca-certificates/mozilla
for file in "$HOST_FILE" /usr/bin/skopeo; do
  [ -e "$file" ] || { skip "certificates of the image" "$file not found" && finish; }
done
if [ "${1:-}" != inside ]; then
  unshare --map-root-user --mount true 2>/dev/null || { skip "certificates of the image" "no user namespace" && finish; }
  exec unshare --map-root-user --mount bash "$0" inside
fi
export LC_ALL=C.UTF-8
STAGE=$(mktemp -d)
trap 'rm -rf -- "$STAGE"' EXIT

# With a program in the place of each; no library and no license is needed.
stage() (  # FOLDER
  source "$ROOT/scripts/release/stage.sh"
  loaded_files() { :; }
  copy_zones() { :; }
  # shellcheck disable=SC2034  # for stage_operator
  SYSTEM='' BINARY=/bin/true PLUGIN=/bin/true OPERATOR_PROGRAM=/bin/true OPERATOR=()
  stage_operator "$1"
)
file_of() { echo "$STAGE/$1$HOST_FILE"; }
certificates() { grep -c 'BEGIN CERTIFICATE' "$1"; }

check "the root of the image is staged" stage "$STAGE/first"
from_package() { [ "$(certificates "$(file_of first)")" = "$(find "$PACKAGE" -name '*.crt' | wc -l)" ]; }
check "it has each certificate of the package, and no other" from_package
is_read() { openssl crl2pkcs7 -nocrl -certfile "$(file_of first)" -out /dev/null; }
check "openssl reads the file" is_read

# A host that trusts one certificate more.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=added -keyout /dev/null \
  -out "$STAGE/added.pem" 2>/dev/null
cat "$HOST_FILE" "$STAGE/added.pem" >"$STAGE/changed.crt"
check "the host's file is replaced" mount --bind "$STAGE/changed.crt" "$HOST_FILE"
added_is_trusted() { openssl verify -CAfile "$1" "$STAGE/added.pem"; }
check "control: that host trusts the added certificate" added_is_trusted "$HOST_FILE"
check "the root of the image is staged there" stage "$STAGE/second"
refuses "the image does not trust the added certificate" added_is_trusted "$(file_of second)"
check "both files are the same" cmp "$(file_of first)" "$(file_of second)"
finish
