#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The part of lint that takes seconds: shell scripts, formatting, and what every file starts with.
set -uo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
cd "$ROOT" || exit 1
STATUS=0

verdict() {  # verdict SENTENCE COMMAND...
  local sentence=$1 seen
  shift
  if seen=$("$@" 2>&1); then
    echo "ok    lint: $sentence"
  else
    echo "FAIL  lint: $sentence"
    printf '%s\n' "$seen" | head -n 40 | sed 's/^/      | /'
    STATUS=1
  fi
}

mapfile -t shell < <({ echo dev; echo .ci/run; find scripts tests -name '*.sh'; } | sort)
mapfile -t cpp < <(find src tests bench \( -name '*.cc' -o -name '*.h' \) | sort)
mapfile -t ours < <(printf '%s\n' "${shell[@]}" "${cpp[@]}" && find src -name '*.lua' && find scripts tests -name '*.py')
all_name_it() { ! grep -L 'SPDX-License-Identifier: Apache-2.0' "${ours[@]}" | grep .; }

verdict "${#shell[@]} shell scripts pass shellcheck" shellcheck "${shell[@]}"
verdict "${#cpp[@]} C++ files are formatted (./dev lint fix does it)" clang-format --dry-run --Werror "${cpp[@]}"
verdict "${#ours[@]} files name their licence" all_name_it
exit $STATUS
