# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Root folders of other distributions, for the tests that install a release: made with debootstrap once, kept packed in
# build/roots, unpacked for each test. Sourced by tests/release/*_test.sh after tests/binary/lib.sh.
# shellcheck disable=SC2034,SC2153  # ROOT is set by scripts/common.sh; WHY is for the tests

ROOTS=$ROOT/build/roots

# require_roots TEST TOOL...: skips the test where it cannot run, and without LONG_TESTS.
require_roots() {
  local test=$1 tool
  shift
  [ -n "${LONG_TESTS:-}" ] || { skip "$test" "it takes long: LONG_TESTS=1" && exit 0; }
  [ "$(id -u)" = 0 ] || { skip "$test" "chroot needs root" && exit 0; }
  for tool; do
    command -v "$tool" >/dev/null || { skip "$test" "$tool not found (./dev release installs it)" && exit 0; }
  done
}

# The caller runs in a mount namespace and a PID namespace of its own, with its files in $STAGE. Its mounts and its processes
# end with it, however it ends.
enter_namespaces() {
  local status=0
  [ -z "${STAGE:-}" ] || return 0
  STAGE=$(mktemp -d)
  export STAGE
  trap 'kill -9 "$INNER" 2>/dev/null; wait; rm -rf --one-file-system -- "$STAGE"' EXIT
  trap 'exit 143' TERM INT HUP
  unshare --mount --pid --fork --kill-child --mount-proc bash "$0" &
  INNER=$!
  wait "$INNER" || status=$?
  exit "$status"
}

# source_of NAME: suite, mirror and keyring of a distribution.
source_of() {
  case $1 in
    debian-12) echo bookworm http://deb.debian.org/debian /usr/share/keyrings/debian-archive-keyring.gpg ;;
    debian-13) echo trixie http://deb.debian.org/debian /usr/share/keyrings/debian-archive-keyring.gpg ;;
    ubuntu-24.04) echo noble http://archive.ubuntu.com/ubuntu "$ROOTS/ubuntu-archive-keyring.gpg" ;;
  esac
}

# Debian 12 has no package with the keys of Ubuntu; Debian 13 has. apt in its root verifies that package.
ubuntu_keys() {
  [ ! -s "$ROOTS/ubuntu-archive-keyring.gpg" ] || return 0
  packed_root debian-13 || return
  unpack_root debian-13 "$STAGE/keys"
  install -m 644 /etc/resolv.conf "$STAGE/keys/etc/resolv.conf"
  if ! (chroot "$STAGE/keys" sh -c 'apt-get update && cd /root && apt-get download ubuntu-keyring' &&
    dpkg-deb -x "$STAGE"/keys/root/ubuntu-keyring_*.deb "$STAGE/keys/keyring") >"$ROOTS/keys.log" 2>&1; then
    WHY="its keys cannot be had: $(tail -n 1 "$ROOTS/keys.log")"
    return 1
  fi
  install -m 644 "$STAGE/keys/keyring/usr/share/keyrings/ubuntu-archive-keyring.gpg" "$ROOTS/"
  remove_root "$STAGE/keys"
}

# packed_root NAME: build/roots/NAME.tar exists. Otherwise WHY contains the reason.
packed_root() {
  local name=$1 new=$ROOTS/.new.$1 suite mirror keyring script=()
  [ ! -s "$ROOTS/$name.tar" ] || return 0
  read -r suite mirror keyring < <(source_of "$name")
  mkdir -p "$ROOTS"
  wget --quiet --tries 2 --timeout 20 --output-document /dev/null "$mirror/dists/$suite/InRelease" || { WHY="$mirror is not reachable" && return 1; }
  [ "$name" != ubuntu-24.04 ] || ubuntu_keys || return
  # An older debootstrap does not know newer suites of Ubuntu; all of them have one script.
  [ -e "/usr/share/debootstrap/scripts/$suite" ] || script=(/usr/share/debootstrap/scripts/gutsy)
  rm -rf --one-file-system -- "$new"
  if ! debootstrap --variant=minbase --include=bash-completion,man-db --keyring="$keyring" "$suite" "$new" "$mirror" "${script[@]}" >"$ROOTS/$name.log" 2>&1; then
    WHY="debootstrap: $(tail -n 1 "$ROOTS/$name.log")"
    return 1
  fi
  umount "$new/proc" 2>/dev/null || true  # debootstrap leaves it mounted
  rm -rf -- "$new"/var/cache/apt/archives/*.deb "$new"/var/lib/apt/lists/*
  tar -C "$new" --one-file-system --numeric-owner -cf "$ROOTS/$name.tar.new" . && mv "$ROOTS/$name.tar.new" "$ROOTS/$name.tar"
  rm -rf --one-file-system -- "$new"
}

# unpack_root NAME FOLDER: with /proc.
unpack_root() {
  mkdir -p "$2"
  tar -C "$2" --numeric-owner -xpf "$ROOTS/$1.tar"
  with_proc "$2"
}

with_proc() {
  mkdir -p "$1/proc"
  mount -t proc proc "$1/proc"
}

remove_root() {
  umount "$1/proc"
  rm -rf --one-file-system -- "$1"
}

# busybox_root FOLDER: what an image of Alpine begins with, but without any C library.
busybox_root() {
  mkdir -p "$1"/{bin,dev,etc,root,run,tmp,usr/bin,usr/local,var}
  chmod 1777 "$1/tmp"
  mknod -m 666 "$1/dev/null" c 1 3
  echo 'root:x:0:0::/root:/bin/sh' >"$1/etc/passwd"
  echo 'root:x:0:' >"$1/etc/group"
  cp "$(command -v busybox)" "$1/bin/busybox"
  chroot "$1" /bin/busybox --install -s /bin
  with_proc "$1"
}
