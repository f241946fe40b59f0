#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plants what the checks of words, spelling, links, commands, subjects, docs/ARCHITECTURE.md and lifetimes must find, and
# an equal text that they must accept.
set -uo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." || exit 1
planted=$(mktemp -d)
trap 'rm -rf -- "$planted"' EXIT
status=0

must_find() {  # must_find WHAT COMMAND...: its output names WHAT, and it fails
  local what=$1 output
  shift
  if output=$("$@" 2>&1) || [[ $output != *"$what"* ]]; then
    echo "not found: '$what' by $*: $output"
    status=1
  fi
}
must_accept() {
  local output
  if ! output=$("$@" 2>&1); then
    echo "not accepted by $*: $output"
    status=1
  fi
}

# A ~ keeps the planted words out of the checks of this file.
plant() { printf '%b' "${2//\~/}" >"$planted/$1"; }
words() { python3 scripts/lint/words.py "$planted/$1"; }
must_find_word() { must_find "$1:${2//\~/}" words "$1"; }

plant a.md 'The holder l~ets go of the lock.\n'
must_find_word a.md '1: l~ets go of'
plant b.cc 'int n;\n// The store was  a~way.\n'
must_find_word b.cc '2: store was  a~way'
plant c.cc 'log("what is t~old \\\\"here\\\\"");\n'
must_find_word c.cc '1: t~old'
plant d.sh '# M~inimise the B~ehaviour\n'
must_find_word d.sh '1: M~inimise'
must_find_word d.sh '1: B~ehaviour'
plant e.lua '-- waited in v~ain\n'
must_find_word e.lua '1: in v~ain'
plant f.cc '#include "operator/l~edger.h"\nL~edger& name = d~ress(w~ishes);  // an image mirror, floor(x), liveness, 100 % of a chart\n'
must_accept words f.cc
plant l.cc 'constexpr int kMostSlots = 3;\nstruct Not~Ours {};\nvoid invite_body() {}\nclass TimingWish~es;\n'
must_find_word l.cc '1: kMostSlots'
must_find_word l.cc '2: Not~Ours'
must_find_word l.cc '3: invite_body'
must_find_word l.cc '4: TimingWish~es'
plant l.cc '// Down, Left and Parts are words of prose.\nint Partsize, stale;\nlog("Stale data");\n'
must_accept words l.cc
plant m.lua "local sea~ts = {}\nlocal function first_sea~t() end\n"
must_find_word m.lua '1: sea~ts'
must_find_word m.lua '2: first_sea~t'
plant m.sql 'SELECT p_sea~t FROM a;\n-- The free sea~ts.\n'
must_find_word m.sql '1: p_sea~t'
must_find_word m.sql '2: sea~ts'
plant m.cc 'struct Sea~t {};\nusing ConstSea~ts = int;\nconst int kSea~tsSchema = 4;\n'
must_find_word m.cc '1: Sea~t'
must_find_word m.cc '2: ConstSea~ts'
must_find_word m.cc '3: kSea~tsSchema'
plant m.cc 'visit("sea~t", kPauseAt);\nconst char* record = "sea~t free";  // a file of version 0.1.0\n'
must_accept words m.cc
plant l.cc '// The server kn~ows the holder.\n// A record of o~urs.\n// A line that was sent, or t~old.\n'
must_find_word l.cc '1: server kn~ows'
must_find_word l.cc '2: of o~urs'
must_find_word l.cc '3: t~old'
plant k.cc 'field("l~edger");\nlog("the l~edger");\n'
must_find_word k.cc '2: l~edger'
plant k.cc 'field("l~edger");\n'
must_accept words k.cc
plant g.md 'A registry mirror; cronlatch.dev/mirrored; on-store-down; math floor(x); the option leftovers.\n'
must_accept words g.md
plant i.md 'The annotations are cronlatch.dev/mirrored; cronlatch-l~edger-reader; cronlatch_l~edger_left_out; --l~edger off.\n'
must_accept words i.md
plant j.md 'The cronlatch l~edger.\n'
must_find_word j.md '1: l~edger'
plant j.md 'cronlatch.dev/mirrored -l~edgers\n'
must_find_word j.md '1: l~edgers'

plant subjects 'abc1234 docs: name the l~edger\n'
must_find "$(printf 'commit abc1234:1: l%s' edger)" env SUBJECTS="$planted/subjects" python3 scripts/lint/words.py --subjects

plant h.md 'The lock is a~quired.\n'
must_find "$(printf 'a%s' quired)" bash scripts/lint/spelling.sh "$planted/h.md"
plant h.md 'The lock is acquired.\n'
must_accept bash scripts/lint/spelling.sh "$planted/h.md"

mkdir "$planted/pages"
plant pages/target.md '# Two words: (code)\n'
links() {
  plant page.md "See [it]($1).\n"
  python3 scripts/lint/links.py "$planted/page.md"
}
must_find 'page.md:1: pages/none.md' links pages/none.md
must_find 'target.md#two' links pages/target.md#two
must_accept links pages/target.md#two-words-code
must_accept links https://example.net/none.md

# shellcheck disable=SC2016  # the backticks are those of Markdown
plant l.md '1. A list:\n\n   ```\n   helm install a b \\\n     --wait\n   ```\n'
must_find 'l.md:4: a command on several lines' bash scripts/lint/commands.sh "$planted/l.md"
# shellcheck disable=SC2016
plant l.md 'A text with \\\n```\nhelm install a b --wait\n```\nand another \\\n'
must_accept bash scripts/lint/commands.sh "$planted/l.md"

subjects() {
  printf '%s\n' "abc1234 $1" >"$planted/subjects"
  SUBJECTS=$planted/subjects bash scripts/lint/subjects.sh
}
must_find 'form' subjects 'Name a mount'
must_find 'form' subjects 'tests: end with a full stop.'
must_find 'form' subjects 'Tests: begin the area with a capital'
must_find 'form' subjects 'README.md: write the area in capitals'
must_find 'form' subjects 'docs, README: write the second area in capitals'
must_find '73 columns' subjects "tests: $(printf '%066d' 0)"
must_accept subjects "store/redis: $(printf '%059d' 0)"
must_accept subjects 'docs, tests: name the test of a reply'
must_accept subjects 'docs: describe TIME_ZONE'

architecture() {  # architecture WHAT BECOMES: the page with another text
  sed "s@$1@$2@" docs/ARCHITECTURE.md >"$planted/architecture.md"
  ! cmp -s docs/ARCHITECTURE.md "$planted/architecture.md" || echo "docs/ARCHITECTURE.md does not contain '$1'"
  python3 scripts/lint/architecture.py "$planted/architecture.md"
}
must_find 'no row for the module operator/access in the table | module' architecture '^| .operator/access. | who .*' ''
must_find 'no row for the module operator/access in the table | folder' architecture '^| .operator/access. | the .*' ''
must_find 'a row for programme,' architecture 'programs\(. | other\)' 'programme\1'
must_find 'the row of plugin does not name image' architecture 'gated, kube, image, cron' 'gated, kube, cron'
must_find 'the row of registry names store,' architecture '| image \(| admissions\)' '| image, store \1'
must_find 'run_acquire.cc defines Run::send()' architecture 'src/core/run.cc\(.) returns\)' 'src/core/run_acquire.cc\1'
must_find 'no file src/config/none.cc' architecture '\(apply_settings().*\)load.cc' '\1none.cc'
must_find 'defines apply_setting()' architecture 'apply_settings()' 'apply_setting()'
must_find 'names no file or no function' architecture '^5. .validate.*) checks' '5. It checks'

lifetime() {  # lifetime PAGE WHAT BECOMES: the page with another text
  rm -rf -- "$planted/docs" && mkdir "$planted/docs"
  sed "s@$2@$3@" "docs/$1" >"$planted/docs/$1"
  ! cmp -s "docs/$1" "$planted/docs/$1" || echo "docs/$1 does not contain '$2'"
  python3 scripts/lint/lifetimes.py "$planted"
}
must_find 'expire 90 days after the last use otherwise' lifetime guarantees.md 'expire 90 days' 'expire 30 days'
must_find 'Never while a grant is open' lifetime operations.md 'Never while a grant' 'Also while a grant'
must_accept lifetime guarantees.md '^# Guarantees' '# The guarantees'
exit $status
