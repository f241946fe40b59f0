#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The manual pages: groff and mandoc read them without a message, and the text contains every option and subcommand.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../binary/lib.sh"
cd "$ROOT/packaging/man" || exit 1

# A page has no date, because its text has none; mandoc reports this, and unknown macros, escapes and sections.
is_empty() { [ -z "$1" ] || { printf '%s\n' "$1"; return 1; }; }
passes_mandoc() { is_empty "$(mandoc -T lint -W warning "$1" 2>&1 | grep -v 'missing date')"; }
passes_groff() { is_empty "$(groff -ww -man -z "$1" 2>&1)"; }
text() { mandoc -T ascii "$1" | col -bx; }

for page in *.1; do
  check "$page passes mandoc" passes_mandoc "$page"
  check "$page passes groff -ww" passes_groff "$page"
done

contains_each() {  # contains_each FILE PATTERN...: each as a whole line below its indentation
  local file=$1 word absent=0
  shift
  for word; do grep -qE -- "^ +$word( |$)" "$file" || { echo "missing: $word"; absent=1; }; done
  return "$absent"
}
rendered=$(mktemp)
trap 'rm -f "$rendered"' EXIT
text cronlatch.1 >"$rendered"
# shellcheck disable=SC2016  # a backtick of Markdown
mapfile -t options < <(sed -nE 's/^\| `([a-z-]+)` \| .*/--\1/p' "$ROOT/docs/reference/options.md")
check "cronlatch.1 contains ${#options[@]} options" contains_each "$rendered" "${options[@]}"
mapfile -t codes < <(sed -nE 's/^\| ([0-9]+) \| .*/\1/p' "$ROOT/docs/reference/exit-codes.md")
check "cronlatch.1 contains ${#codes[@]} exit codes" contains_each "$rendered" "${codes[@]}"
mapfile -t subcommands < <(grep -oE '^complete .*__fish_use_subcommand. -a [a-z]+' "$ROOT/packaging/completions/cronlatch.fish" | sed 's/.* //')
check "cronlatch.1 contains ${#subcommands[@]} subcommands" contains_each "$rendered" "${subcommands[@]}"
text kubectl-cronlatch.1 >"$rendered"
check "kubectl-cronlatch.1 contains its commands" contains_each "$rendered" ls describe why release uninstall-check
# An escape that troff does not know is printed.
check "no escape is left in the text" test -z "$(text cronlatch.1 | grep -E '\\(e|f|\(|-)')"
finish
