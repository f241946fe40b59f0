#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cosign, built once from its Go module into build/release-tools. Prints its path. Exit code 69: it cannot be built here.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

VERSION=v2.6.5  # the `go` line of its go.mod is 1.25.0
GO_AT_LEAST=1.25
FOLDER=$PWD/build/release-tools/cosign-$VERSION
PROGRAM=$FOLDER/cosign

# The Go of Debian 12 is too old. scripts/cluster_tools.sh installs a newer one.
find_go() {
  local go
  for go in go /usr/local/go/bin/go build/cluster/go/bin/go; do
    if printf "go%s\n%s\n" "$GO_AT_LEAST" "$("$go" env GOVERSION 2>/dev/null)" | sort --check=quiet --version-sort; then
      echo "$go" && return
    fi
  done
  return 1
}

if [ ! -x "$PROGRAM" ]; then
  go=$(find_go) || { echo "cosign is a Go program, and Go $GO_AT_LEAST or newer is not installed" >&2 && exit 69; }
  GOBIN=$FOLDER CGO_ENABLED=0 nice -n 10 "$go" install -trimpath -ldflags '-s -w' \
    "github.com/sigstore/cosign/v2/cmd/cosign@$VERSION" >&2 || { echo "cosign $VERSION cannot be built" >&2 && exit 69; }
fi
echo "$PROGRAM"
