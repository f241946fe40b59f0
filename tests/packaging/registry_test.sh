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
check "the chart's annotations name the image" value_is charts/cronlatch/Chart.yaml \
  '.annotations["artifacthub.io/images"] | split("\n")[1] | ltrimstr("  image: ")' "$REGISTRY/cronlatch:$("$YQ" -r .appVersion charts/cronlatch/Chart.yaml)"
# Image and chart references of the project: NAME/cronlatch:TAG, NAME/cronlatch-wrapper, oci://NAME.
others() {
  grep -rnoE '(oci://[a-z0-9./-]+|[a-z0-9./-]*/cronlatch(-wrapper)?:v?[0-9][a-z0-9.]*)' README.md docs manifests charts/cronlatch --include='*.md' --include='*.yaml' |
    grep -vE ":(oci://)?$REGISTRY(/|$)" | grep -vE '^docs/decisions/|:registry.example/'
}
no_others() { local seen; seen=$(others); [ -z "$seen" ] || { echo "$seen" && return 1; }; }
check "no text names another registry" no_others
finish
