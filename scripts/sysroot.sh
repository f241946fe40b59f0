#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/sysroot.sh: makes build/sysroot/arm64: the headers and libraries that the presets for arm64 link, and files of the
# operator's image. It contains the packages of Debian's arm64 that scripts/packages.sh names, and those that they depend on.
# The host needs no foreign architecture: apt has its own state below build/, and reads the host's sources and keys. Nothing
# of a package is executed.
# The folder has dpkg's data: dpkg-query --admindir=build/sysroot/arm64/var/lib/dpkg.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

SYSROOT=$ROOT/build/sysroot/arm64
STAMP=$SYSROOT/.complete
# The same packages and the same way of unpacking: nothing to do.
WANTED=$(sha256sum -- "${BASH_SOURCE[0]}" <(echo "${SYSROOT_PACKAGES[@]}") | cut -d ' ' -f 1)
[ "$(cat "$STAMP" 2>/dev/null)" != "$WANTED" ] || exit 0
for tool in apt-get dpkg-deb; do
  command -v $tool >/dev/null || { echo "scripts/sysroot.sh: $tool not found: a sysroot is made on Debian" >&2 && exit 69; }
done

say "sysroot of arm64 (packages of Debian)"
APT=$ROOT/build/sysroot/apt
mkdir -p "$APT"/{state/lists/partial,cache/archives/partial}
rm -f "$APT"/cache/archives/*.deb  # only what is wanted now
: >"$APT/state/status"
cat >"$APT/apt.conf" <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "3";
Dir::State "$APT/state";
Dir::State::status "$APT/state/status";
Dir::Cache "$APT/cache";
DPkg::Post-Invoke { "true"; };
CONF
export APT_CONFIG=$APT/apt.conf
apt-get update -q >&2
apt-get install -q -y --download-only "${SYSROOT_PACKAGES[@]}" >&2

new=$SYSROOT.new info=$SYSROOT.new/var/lib/dpkg/info
rm -rf -- "$new"
mkdir -p "$info" "$new"/usr/{bin,sbin,lib} "$new/var/lib/dpkg/updates"
echo 1 >"$info/format"
for name in bin sbin lib; do ln -s usr/$name "$new/$name"; done  # as in a Debian with merged /usr

# unpack DEB: its files, and what dpkg would record about it.
unpack() {
  local deb=$1 name
  dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink --no-same-owner -C "$new" \
    --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' --exclude='./usr/share/info/*'
  name=$(dpkg-deb --field "$deb" Package)
  [ "$(dpkg-deb --field "$deb" Multi-Arch)" != same ] || name+=:arm64
  dpkg-deb --fsys-tarfile "$deb" | tar -t | sed -E 's,^\.,,; s,(.)/$,\1,; s,^/$,/.,' >"$info/$name.list"
  dpkg-deb --field "$deb" | sed '/^Package:/a Status: install ok installed'
  echo
}
for deb in "$APT"/cache/archives/*.deb; do unpack "$deb"; done >"$new/var/lib/dpkg/status"

# An absolute link would be followed to the host's file.
find "$new" -type l -lname '/*' -printf '%P\t%l\n' | while IFS=$'\t' read -r link target; do
  ln -sfn "$(realpath --no-symlinks --relative-to="$new/$(dirname -- "$link")" -- "$new$target")" "$new/$link"
done
echo "$WANTED" >"$new/.complete"
rm -f "$STAMP"  # a folder that is half removed is not complete
rm -rf -- "$SYSROOT" "$APT"
mv "$new" "$SYSROOT"
