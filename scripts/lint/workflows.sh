#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# actionlint over .github/workflows, built once from its Go module into build/lint. Exit code 69: there is no Go that can
# build it.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

VERSION=v1.7.12  # the `go` line of its go.mod is 1.25.0
GO_AT_LEAST=1.25
FOLDER=$PWD/build/lint/actionlint-$VERSION
PROGRAM=$FOLDER/actionlint

# The same places as scripts/cluster_tools.sh, which also fetches a Go; for lint alone none is fetched.
find_go() {
  local go version
  for go in go /usr/local/go/bin/go build/cluster/go/bin/go; do
    version=$("$go" env GOVERSION 2>/dev/null) || continue
    if printf 'go%s\n%s\n' "$GO_AT_LEAST" "$version" | sort --check=quiet --version-sort; then
      echo "$go"
      return
    fi
  done
  return 1
}

if [ ! -x "$PROGRAM" ]; then
  go=$(find_go) || { echo "actionlint requires Go $GO_AT_LEAST or newer, which is not installed" && exit 69; }
  if ! output=$(GOBIN=$FOLDER CGO_ENABLED=0 "$go" install "github.com/rhysd/actionlint/cmd/actionlint@$VERSION" 2>&1); then
    printf '%s\n' "$output"
    echo "actionlint $VERSION cannot be built"
    exit 69
  fi
fi
# The scripts of the steps are read by the shellcheck that is installed; pyflakes is not used.
if [ $# -gt 0 ]; then exec "$PROGRAM" -pyflakes= "$@"; fi
exec "$PROGRAM" -pyflakes= .github/workflows/*.yml
