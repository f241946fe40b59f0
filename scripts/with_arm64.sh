#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/with_arm64.sh COMMAND...: runs a command in a place where the kernel starts programs of arm64 with qemu-user. The
# registration is in a user namespace of its own and ends with it (binfmt_misc has that since Linux 6.7); the host's stays as
# it is. Where the host already starts these programs, the command is run directly. Exit code 69: neither is possible.
set -euo pipefail

EMULATOR=/usr/bin/qemu-aarch64-static
BINFMT=/proc/sys/fs/binfmt_misc
ELF='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'   # 64 bits, little-endian, aarch64
MASK='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'

stop_here() {
  echo "scripts/with_arm64.sh: $*" >&2
  exit 69
}

# The users of the namespace are those of the host, so that a test can change its user. Another process writes them.
map_users() {
  local file
  until [ "$(readlink "/proc/$1/ns/user")" != "$2" ]; do sleep 0.01; done
  for file in uid_map gid_map; do awk '{ print $1, $1, $3 }' /proc/self/$file >"/proc/$1/$file"; done
}

if [ "${1:-}" = --inside ]; then
  shift
  until read -r _ </proc/self/gid_map; do sleep 0.01; done
  mount -t binfmt_misc binfmt_misc $BINFMT 2>/dev/null || stop_here "this kernel has no binfmt_misc for a user namespace (Linux 6.7)"
  # P: the program gets its argv[0], by which cronlatch knows its guardian and the other programs that it replaces. F: the
  # kernel opens the emulator now, so that it is found in any root.
  printf '%s' ":qemu-aarch64:M::$ELF:$MASK:$EMULATOR:PF" >$BINFMT/register
  exec "$@"
fi

[ $# -gt 0 ] || stop_here "the command is missing"
starts_programs() { grep -qsx enabled $BINFMT/qemu-aarch64 && grep -qs '^flags:.*P' $BINFMT/qemu-aarch64; }
if [ "$(uname -m)" = aarch64 ] || starts_programs; then exec "$@"; fi
[ -x $EMULATOR ] || stop_here "$EMULATOR not found (package qemu-user-static)"
unshare --user true 2>/dev/null || stop_here "this host allows no user namespaces"
[ "$(id -u)" = 0 ] || exec unshare --user --map-root-user --mount -- bash "${BASH_SOURCE[0]}" --inside "$@"
map_users $$ "$(readlink /proc/self/ns/user)" &
exec unshare --user --mount -- bash "${BASH_SOURCE[0]}" --inside "$@"
