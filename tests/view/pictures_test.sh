#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The pictures of docs/dashboards.md are those that ./dev pictures draws: the samples have the names and labels of the metrics
# that the operator exports, and no panel is empty. It stores a day of samples: long.
set -uo pipefail
# shellcheck source=tests/view/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

if [ -z "${LONG_TESTS:-}" ]; then
  skip "the pictures of the dashboards" "it takes long: LONG_TESTS=1"
  exit 0
fi
REFERENCE=$ROOT/docs/reference/metrics.md
samples() { python3 -B "$ROOT/scripts/pictures/samples.py" 1772496000; }
samples | grep -v '^#' | sed -E 's/ .*//' | sort -u >"$STAGE/series"
# shellcheck disable=SC2016  # backticks of Markdown
unknown_names() {  # without the metrics of the API server
  sed -E 's/\{.*//; s/_(bucket|count|sum)$//' "$STAGE/series" | grep -v '^apiserver_' | sort -u |
    grep -vxF -f <(grep -oE '`(cronlatch|process)_[a-z_]+`' "$REFERENCE" | tr -d '`')
}
none() { local found; found=$("$@"); [ -z "$found" ] || { echo "$found" && return 1; }; }
check "the operator exports each metric of the samples" none unknown_names
cronjobs() { grep -c '^cronlatch_lock_acquired_total' "$STAGE/series"; }
# The leader changes once on that day, and each leader exports the locks.
check "there are 20 CronJobs" [ "$(cronjobs)" -eq 40 ]
check "the pictures are drawn" bash "$ROOT/scripts/pictures.sh" "$STAGE/pictures"
check "no panel is empty" none grep -l '>no data<' "$STAGE"/pictures/*.svg
check "they are those of docs/img (./dev pictures)" diff -r "$STAGE/pictures" "$ROOT/docs/img"
finish
