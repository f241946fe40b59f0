#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# spelling.sh [FILE...]: codespell over these files, or over every text of the repository. .codespellrc has what is no
# word of English but right here.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

if [ $# -gt 0 ]; then exec codespell -- "$@"; fi
# Corpora and the scripts of version 0.1.0 are data; the list of words contains parts of words.
git ls-files -z -- ':!tests/fuzz/corpus' ':!tests/scripts/v0_1_0' ':!LICENSE' ':!*.sum' ':!*.svg' ':!.codespellrc' ':!scripts/lint/words.txt' |
  xargs -0 codespell --
