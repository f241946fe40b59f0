#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The part of lint that takes seconds, or a minute when many scripts have changed: shell scripts, formatting, license headers,
# spelling, words, links, commands, commit subjects, the tables of docs/ARCHITECTURE.md, lifetimes of data, workflows.
set -uo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
cd "$ROOT" || exit 1
STATUS=0

check() {  # check SENTENCE COMMAND...
  local sentence=$1 seen status=0
  shift
  seen=$("$@" 2>&1) || status=$?
  if [ $status -eq 0 ]; then
    echo "ok    lint: $sentence"
  elif [ $status -eq 69 ]; then  # a tool that cannot be had here
    echo "skip  lint: $sentence ($(printf '%s' "$seen" | tail -n 1))"
  else
    echo "FAIL  lint: $sentence"
    printf '%s\n' "$seen" | head -n 40 | sed 's/^/      | /'
    STATUS=1
  fi
}

mapfile -t shell < <({ echo dev; echo .ci/run; find scripts tests -name '*.sh'; } | sort)
mapfile -t cpp < <(find src tests bench \( -name '*.cc' -o -name '*.h' \) | sort)
mapfile -t licensed < <(printf '%s\n' "${shell[@]}" "${cpp[@]}" && find src -name '*.lua' && find scripts tests -name '*.py')
# libFuzzer writes them to the current folder, unless it has an -artifact_prefix.
no_findings() { ! git ls-files --cached --others --exclude-standard | grep -E '(^|/)(crash|leak|timeout|oom|slow-unit)-[0-9a-f]{40}$'; }
all_have_header() { ! grep -L 'SPDX-License-Identifier: Apache-2.0' "${licensed[@]}" | grep .; }
check "${#shell[@]} shell scripts pass shellcheck" python3 scripts/lint/shell.py "${shell[@]}"
check "${#cpp[@]} C++ files are formatted (./dev lint fix does it)" clang-format --dry-run --Werror "${cpp[@]}"
check "${#licensed[@]} files have the license header" all_have_header
check "no finding of a fuzz target is outside build/fuzz" no_findings
check "no misspelled word (codespell; .codespellrc)" bash scripts/lint/spelling.sh
check "the subjects of the last commits have their form" bash scripts/lint/subjects.sh
check "the workflows pass actionlint" bash scripts/lint/workflows.sh
check "the links of the documentation lead to files and headings" python3 scripts/lint/links.py
check "each command of the documentation is on one line" bash scripts/lint/commands.sh
check "the tables of modules and the walks of docs/ARCHITECTURE.md match src" python3 scripts/lint/architecture.py
check "the documentation and the code have the same lifetimes of data" python3 scripts/lint/lifetimes.py
check "planted words, misspellings, links, commands, subjects, rows and lifetimes are found" bash scripts/lint/control.sh
check "no word of scripts/lint/words.txt in texts, messages and subjects" python3 scripts/lint/words.py
exit $STATUS
