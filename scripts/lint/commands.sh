#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# commands.sh [FILE...]: each command in a code block of a page is on one line, so that it can be copied. Without FILE: every
# page of the repository.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

[ $# -gt 0 ] || mapfile -t pages < <(git ls-files '*.md')
! awk 'FNR == 1 { code = 0 } /^ *```/ { code = !code; next } (code || /^    /) && /\\$/ { print FILENAME ":" FNR ": a command on several lines: " $0 }' \
  "${@:-${pages[@]}}" | grep .
