# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The architectures of a release, by Debian's names, and where the programs and packages of each are. Sourced by
# scripts/release.sh.

# shellcheck disable=SC2034  # used by scripts/release.sh
ARCHITECTURES=(amd64 arm64)

# use_architecture NAME: SYSTEM is the root with the Debian packages of this architecture, "" for this machine.
# shellcheck disable=SC2034  # used by scripts/release.sh and scripts/release/stage.sh
use_architecture() {
  local suffix
  case $1 in
    amd64) RPM_ARCHITECTURE=x86_64 COMPILER=g++-12 SYSTEM='' suffix='' ;;
    arm64) RPM_ARCHITECTURE=aarch64 COMPILER=g++-12-aarch64-linux-gnu SYSTEM=$(realpath -- "$ROOT/build/sysroot/arm64") suffix=-arm64 ;;
  esac
  DEB_ARCHITECTURE=$1
  RELEASE_BUILD=$ROOT/build/release$suffix
  BINARY=$RELEASE_BUILD/cronlatch
  PLUGIN=$RELEASE_BUILD/kubectl-cronlatch
  OPERATOR_PROGRAM=$ROOT/build/operator$suffix/cronlatch-operator
}

query_packages() { dpkg-query --admindir="$SYSTEM/var/lib/dpkg" "$@"; }

# packages_of FILE...: the Debian packages that contain these files of SYSTEM. dpkg knows some libraries below /lib, others
# below /usr/lib.
packages_of() {
  local file real found
  found=$(for file; do
    real=$(realpath -- "$file")
    real=${real#"$SYSTEM"}
    printf '%s\n' "${file#"$SYSTEM"}" "$real" "${real#/usr}"
  done | sort -u | xargs dpkg-query --admindir="$SYSTEM/var/lib/dpkg" --search 2>/dev/null || true)
  for file; do
    grep -qF "/$(basename -- "$(realpath -- "$file")")" <<<"$found" || { echo "no package contains $file" >&2 && return 1; }
  done
  sed 's/: .*//; s/:[a-z0-9]*$//' <<<"$found" | sort -u
}

# linked_packages TARGET: the packages whose static libraries are linked into a program of the preset release. Options of the
# link command say where the libraries of the compiler are.
linked_packages() {
  local command compiler options archives file
  command=$(ninja -C "$RELEASE_BUILD" -t commands "$1" | tail -n 1)
  read -r _ _ compiler _ <<<"$command"  # : && COMPILER OPTION...
  mapfile -t options < <(tr ' ' '\n' <<<"$command" | grep -E '^(-B|--sysroot=)')
  mapfile -t archives < <(tr ' ' '\n' <<<"$command" | grep -E '^/.*\.a$' | sort -u
    for file in libc.a libstdc++.a libgcc.a; do "$compiler" "${options[@]}" -print-file-name=$file; done)
  packages_of "${archives[@]}"
}

# loaded_files PROGRAM...: the shared libraries that the loader of this architecture loads, and the loader, below SYSTEM.
loaded_files() {
  local program
  for program; do
    case $DEB_ARCHITECTURE in
      amd64) ldd "$program" ;;
      arm64) qemu-aarch64-static -L "$SYSTEM" "$SYSTEM/lib/ld-linux-aarch64.so.1" --list "$program" ;;
    esac
  done | awk '$1 ~ /^\// { print $1; next } $3 ~ /^\// { print $3 }' | sort -u  # the loader has no arrow, or an arrow to its own file
}

# Sets the lists of packages: WRAPPER, PLUGIN_PACKAGES, PROGRAMS (both) and OPERATOR (the files of its image).
# shellcheck disable=SC2034  # used by scripts/release.sh and scripts/release/stage.sh
find_packages() {
  local files
  mapfile -t WRAPPER < <(linked_packages cronlatch)
  mapfile -t PLUGIN_PACKAGES < <(printf '%s\n' nlohmann-json3-dev && linked_packages kubectl-cronlatch)
  mapfile -t PROGRAMS < <(printf '%s\n' "${WRAPPER[@]}" "${PLUGIN_PACKAGES[@]}" | sort -u)
  mapfile -t files < <(loaded_files "$OPERATOR_PROGRAM" "$SYSTEM/usr/bin/skopeo")
  mapfile -t OPERATOR < <({ packages_of "${files[@]/#/"$SYSTEM"}" && printf '%s\n' skopeo ca-certificates tzdata; } | sort -u)
  [ ${#WRAPPER[@]} -gt 3 ] && [ ${#OPERATOR[@]} -gt 5 ]
}
