#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/spec/README.md names every action of the model, and only functions and files that exist.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../binary/lib.sh"

copy=$(mktemp -d)
trap 'rm -rf -- "$copy"' EXIT

planted() {  # planted FILE SED-EXPRESSION: checks a changed copy of docs/spec
  cp "$ROOT"/docs/spec/* "$copy" && sed -i "$2" "$copy/$1" && python3 -B "$ROOT/tests/spec/documented.py" "$copy"
}

check "every action of the model and its implementation exist" python3 -B "$ROOT/tests/spec/documented.py"
check "an equal copy is accepted" planted README.md ''
refuses "a function that does not exist is found" planted README.md 's/is_replaceable/is_not_held/'
refuses "a file that does not exist is found" planted README.md 's,scripts/revoke.lua,scripts/end.lua,'
refuses "an action without a row is found" planted store.pml '1a inline do_extend(l) { skip }'
refuses "a row without an action is found" planted store.pml 's/^inline do_restore(/inline restore_record(/'
finish
