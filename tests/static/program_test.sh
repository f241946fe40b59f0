#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Properties of the released programs: fully static, stripped, small, hardened, and without the operator's libraries. The
# wrapper is copied into every gated pod, so it has no JSON library; only the plugin of kubectl needs one.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../binary/lib.sh"
# shellcheck source=tests/binary/static_program.sh
source "$ROOT/tests/binary/static_program.sh"

# A stripped program still contains type names: N5boost..., N10prometheus..., N3web4http... (cpprest).
contains_no_type_of() { ! grep -aoE "N$2" "$1" | sort | uniq -c; }
prints_its_version() { [ -n "$("$1" version)" ]; }
prints_its_help() { "$1" help | grep -q "kubectl cronlatch"; }

check_program() {  # check_program PROGRAM SIZE-LIMIT
  local name library
  name=$(basename -- "$1")
  check_static_program "$1" "$2"
  for library in 5boost 10prometheus '3web4(http|json)'; do
    check "$name contains no type of $library" contains_no_type_of "$1" "$library"
  done
}
check_program "$BINARY" "$SIZE_LIMIT"
check_program "$PLUGIN" "$PLUGIN_SIZE_LIMIT"
check "cronlatch contains no type of the JSON library" contains_no_type_of "$BINARY" 8nlohmann
refuses "control: kubectl-cronlatch contains types of the JSON library" contains_no_type_of "$PLUGIN" 8nlohmann
check "cronlatch prints its version" prints_its_version "$BINARY"
check "kubectl-cronlatch prints its help" prints_its_help "$PLUGIN"

# Controls: the same checks must fail for other programs.
stage=$(mktemp -d)
trap 'rm -rf -- "$stage"' EXIT
printf '#include <typeinfo>\nnamespace boost { struct thing { virtual ~thing() {} }; }\n' >"$stage/wrong.cc"
printf 'int main() { boost::thing t; return typeid(t).name()[0] == 0; }\n' >>"$stage/wrong.cc"
check "control: a dynamic program can be built" g++ -g -o "$stage/wrong" "$stage/wrong.cc"
refuses "control: an interpreter is found" has_no_interpreter "$stage/wrong"
refuses "control: a needed library is found" needs_no_library "$stage/wrong"
refuses "control: symbols are found" is_stripped "$stage/wrong"
refuses "control: a size of one byte above the limit is found" is_small "$stage/wrong" $(($(stat -c %s "$stage/wrong") - 1))
refuses "control: a type of another library is found" contains_no_type_of "$stage/wrong" 5boost
finish
