#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The chart, the manifests and the documentation name one registry and one source: those of packaging/project.env.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../binary/lib.sh"
# shellcheck source=packaging/project.env
source "$ROOT/packaging/project.env"
cd "$ROOT" || exit 1
YQ=/usr/bin/yq

value_is() { [ "$("$YQ" -r "$2" "$1")" = "$3" ] || { "$YQ" -r "$2" "$1" && return 1; }; }
check "the chart's image is in $REGISTRY" value_is charts/cronlatch/values.yaml '.image.registry + "/" + .image.repository' "$REGISTRY/cronlatch"
check "the chart's home is $SOURCE" value_is charts/cronlatch/Chart.yaml .home "$SOURCE"
check "the chart's source is $SOURCE" value_is charts/cronlatch/Chart.yaml '.sources | join(" ")' "$SOURCE"
ICON=packaging/icon.svg
check "the chart's icon is $ICON in the source" value_is charts/cronlatch/Chart.yaml .icon "$SOURCE/raw/main/$ICON"
is_svg() { python3 -c 'import sys, xml.etree.ElementTree as x; sys.exit(x.parse(sys.argv[1]).getroot().tag != "{http://www.w3.org/2000/svg}svg")' "$1"; }
check "$ICON is an SVG" is_svg "$ICON"
# Each image that the chart can start without another value.
images() { "$YQ" -r '.annotations["artifacthub.io/images"]' charts/cronlatch/Chart.yaml | "$YQ" -r "$1"; }
lists_image() { [ "$(images "map(select(.name == \"$1\").image) | join(\" \")")" = "$2" ] || { images '.[].image' && return 1; }; }
check "the chart's annotations name the image" lists_image cronlatch "$REGISTRY/cronlatch:$("$YQ" -r .appVersion charts/cronlatch/Chart.yaml)"
check "and that of the Redis of the chart" lists_image valkey "$("$YQ" -r '.redis.image | "\(.registry)/\(.repository):\(.tag)"' charts/cronlatch/values.yaml)"
two_images() { [ "$(images length)" = 2 ]; }
check "and no other image" two_images
check "and no key of signatures, which only a release has" value_is charts/cronlatch/Chart.yaml '.annotations | has("artifacthub.io/signKey")' false

# ---- the key of the chart's signature, in the copy that ./dev release packs ----
STAGE=$(mktemp -d)
trap 'rm -rf -- "$STAGE"' EXIT
FINGERPRINT=0123456789ABCDEF0123456789ABCDEF01234567
# with_key VALUE: the Chart.yaml of a release.
with_key() { cp charts/cronlatch/Chart.yaml "$STAGE/Chart.yaml" && CHART_SIGN_KEY=$1 bash scripts/release/sign_key.sh "$STAGE/Chart.yaml"; }
has_key() {
  with_key "$FINGERPRINT $SOURCE/releases/download/key.asc" || return 1
  "$YQ" -r '.annotations["artifacthub.io/signKey"]' "$STAGE/Chart.yaml" | "$YQ" -r '"\(.fingerprint) \(.url)"' | tee "$STAGE/key"
  [ "$(cat "$STAGE/key")" = "$FINGERPRINT $SOURCE/releases/download/key.asc" ]
}
check "CHART_SIGN_KEY becomes the annotation signKey" has_key
keeps_the_rest() { diff <("$YQ" -S 'del(.annotations["artifacthub.io/signKey"])' "$STAGE/Chart.yaml") <("$YQ" -S . charts/cronlatch/Chart.yaml); }
check "and changes nothing else" keeps_the_rest
changes_nothing() { with_key "" && cmp charts/cronlatch/Chart.yaml "$STAGE/Chart.yaml"; }
check "without CHART_SIGN_KEY, Chart.yaml is unchanged" changes_nothing
for wrong in "$FINGERPRINT" "$FINGERPRINT http://cronlatch.dev/key.asc" "ABCD $SOURCE/key.asc" "$FINGERPRINT $SOURCE/a b"; do
  refuses "CHART_SIGN_KEY is refused: $wrong" with_key "$wrong"
done

# Image and chart references of the project: NAME/cronlatch:TAG, NAME/cronlatch-wrapper, oci://NAME.
others() {
  grep -rnoE '(oci://[a-z0-9./-]+|[a-z0-9./-]*/cronlatch(-wrapper)?:v?[0-9][a-z0-9.]*)' README.md docs manifests charts/cronlatch --include='*.md' --include='*.yaml' |
    grep -vE ":(oci://)?$REGISTRY(/|$)" | grep -vE '^docs/decisions/|:registry.example/'
}
no_others() { local seen; seen=$(others); [ -z "$seen" ] || { echo "$seen" && return 1; }; }
check "no text names another registry" no_others
# Commands that download a release: its source, and the version of this tree.
VERSION=$(sed -nE 's/^project\(cronlatch VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
texts=(README.md charts/cronlatch/README.md docs/*.md docs/migrating/*.md docs/runbooks/*.md)
downloads() { grep -noE '(https?://[^ ]+/releases/download/v[0-9.]+[0-9]/cronlatch[^ ]*|https?://[^ ]+/releases/download/[^ ]*|cronlatch[_-][0-9]+\.[0-9.]+[0-9][_-]|/cronlatch:[0-9][^ ]*|charts/cronlatch --version [0-9][^ ]*)' "$@"; }
foreign_downloads() {  # those with another source or version
  downloads "$@" | grep -vE ":$SOURCE/releases/download/v$VERSION/((kubectl-)?cronlatch[_-]${VERSION}[_-]|cronlatch\.krew\.yaml)|:cronlatch[_-]${VERSION}[_-]|:/cronlatch:$VERSION$|:charts/cronlatch --version $VERSION$"
}
no_foreign_downloads() { ! foreign_downloads "$@"; }
have_downloads() { [ "$(downloads "${texts[@]}" | wc -l)" -ge 8 ]; }
check "commands that download a release have the source and the version of this tree" no_foreign_downloads "${texts[@]}"
check "there are such commands" have_downloads
# A reader has no source tree.
from_tree() { grep -nE 'helm .*(upgrade|install).* (\./)?charts/cronlatch( |$)' "$@"; }
none_from_tree() { ! from_tree "$@"; }
check "each helm command installs the published chart" none_from_tree "${texts[@]}"
planted=$(mktemp)
trap 'rm -f -- "$planted"' EXIT
for line in "https://example.com/releases/download/v$VERSION/cronlatch_${VERSION}_amd64.deb" "$SOURCE/releases/download/v99.0.0/cronlatch_99.0.0_amd64.deb" \
  "$SOURCE/releases/download/v$VERSION/cronlatch_99.0.0_amd64.deb" "oci://$REGISTRY/charts/cronlatch --version 99.0.0"; do
  echo "$line" >"$planted"
  refuses "control: $line is found" no_foreign_downloads "$planted"
done
echo "helm -n cronlatch upgrade cronlatch charts/cronlatch --wait" >"$planted"
refuses "control: a chart of the source tree is found" none_from_tree "$planted"
finish
