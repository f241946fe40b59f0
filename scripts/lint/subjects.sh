#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# subjects.sh [list]: checks the subjects of the last commits: `area: imperative, what changed` in at most 72 columns.
# Checked are the commits since the last version tag, at most 50, and only those made since this check exists: published
# commits cannot be changed. Merges are not checked. list prints them. SUBJECTS (a file) is checked instead of git's log.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

MOST=50
COLUMNS_OF_A_SUBJECT=72
# A path or module in lower case, or several with commas; then what changed.
FORMAT='^[a-z0-9_.-]+([/ ][a-z0-9_.-]+)*(, [a-z0-9_./-]+)*: [^ ]'

subjects() {
  if [ -n "${SUBJECTS:-}" ]; then
    cat -- "$SUBJECTS"
    return
  fi
  local since tag
  since=$(git log --diff-filter=A --format=%H -1 -- scripts/lint/subjects.sh)
  [ -n "$since" ] || return 0
  tag=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null || true)
  git log --no-merges --ancestry-path --max-count=$MOST --format='%h %s' "$since..HEAD" ${tag:+"^$tag"}
}

if [ "${1:-}" = list ]; then
  subjects
  exit
fi
status=0
while read -r commit subject; do
  if [ ${#subject} -gt $COLUMNS_OF_A_SUBJECT ]; then
    echo "$commit: the subject has ${#subject} columns, more than $COLUMNS_OF_A_SUBJECT: $subject"
    status=1
  fi
  if ! [[ $subject =~ $FORMAT ]] || [[ $subject == *. ]]; then
    echo "$commit: the subject is not of the form 'area: imperative, what changed': $subject"
    status=1
  fi
done < <(subjects)
exit $status
