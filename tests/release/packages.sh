# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Checks of the deb and the rpm of one architecture in empty roots. Sourced by release_test.sh, which sets VERSION and STAGE
# and has entered the folder of the release.
# shellcheck disable=SC2153  # release_test.sh sets the variables

check_packages() {  # ARCHITECTURE ARCHITECTURE-OF-RPM
  local architecture=$1 deb=cronlatch_${VERSION}_$1.deb rpm=cronlatch-$VERSION-1.$2.rpm root=$STAGE/root.$1 file
  check_deb
  check_rpm "$STAGE/rpmroot.$1" "$2"
}

check_deb() {
  local in_root=(dpkg --root="$root" --force-not-root --force-script-chrootless --log="$STAGE/dpkg.log")
  mkdir -p "$root"/var/lib/dpkg/{info,updates}
  touch "$root/var/lib/dpkg/status"
  [ "$architecture" = "$(dpkg --print-architecture)" ] || "${in_root[@]}" --add-architecture "$architecture"
  check "dpkg installs the deb for $architecture into an empty root" "${in_root[@]}" --install "$deb"
  files_of_root >"$STAGE/files.$architecture"
  check_programs_of "$root" "the deb"
  for file in share/man/man1/cronlatch.1.gz share/man/man1/kubectl-cronlatch.1.gz share/bash-completion/completions/cronlatch \
    share/zsh/vendor-completions/_cronlatch share/fish/vendor_completions.d/cronlatch.fish bin/kubectl_complete-cronlatch \
    share/doc/cronlatch/examples/report.timer share/doc/cronlatch/copyright share/doc/cronlatch/licenses/libssl-dev/copyright; do
    check "the deb contains usr/$file" test -s "$root/usr/$file"
  done
  check "man displays the page" man --local-file "$root/usr/share/man/man1/cronlatch.1.gz"
  check "systemd accepts the example" accepted_by_systemd
  rm -rf "${root:?}/etc"
  check "the rpm contains the same files" same_content
  check "the rpm owns no folder of the system" only_own_folders
  check "dpkg removes it" "${in_root[@]}" --purge "cronlatch:$architecture"
  check "nothing is left" nothing_left
}
files_of_root() { (cd "$root" && find . ! -path './var/*' ! -name . ! -name var | sort); }
accepted_by_systemd() {
  install -D -m 644 -t "$root/etc/systemd/system" "$root"/usr/share/doc/cronlatch/examples/report.*
  systemd-analyze verify --man=no --recursive-errors=no --root="$root" report.timer report.service
}
files_of_rpm() { of_rpm --list; }
same_content() { diff <(cd "$root" && find usr ! -type d | sort) <(files_of_rpm | sed 's,^/,,' | while read -r file; do [ -d "$root/$file" ] || echo "$file"; done | sort); }
only_own_folders() { ! files_of_rpm | grep -xE '/usr(/bin|/share(/man(/man1)?|/doc)?)?'; }
nothing_left() { [ -z "$(files_of_root)" ] || { files_of_root && return 1; }; }

of_rpm() { rpm --query --package "$@" "$rpm" 2>/dev/null; }
requires_only_rpm() { ! of_rpm --requires | grep -v '^rpmlib('; }
finds_nothing() {
  local found
  found=$("$@") || return 1
  [ -z "$found" ] || { echo "$found" && return 1; }
}
has_metadata_of_rpm() { diff <(echo "Apache-2.0 $1 cronlatch $SOURCE") <(of_rpm --queryformat '%{LICENSE} %{ARCH} %{VENDOR} %{URL}\n'); }

check_rpm() {  # ROOT ARCHITECTURE-OF-RPM
  mkdir "$1"
  check "the rpm requires only features of rpm" requires_only_rpm
  check "the rpm executes no script" finds_nothing of_rpm --scripts --triggers
  check "the rpm names license, architecture, vendor and address" has_metadata_of_rpm "$2"
  # rpm refuses another architecture than that of the host, whatever the root.
  check "rpm installs the rpm for $architecture into an empty root, without another package" rpm --root "$1" --install --ignorearch "$rpm"
  check "rpm finds the installed files unchanged" rpm --root "$1" --verify cronlatch
  printf x >>"$1/usr/share/doc/cronlatch/copyright"
  refuses "control: a changed file is found" rpm --root "$1" --verify cronlatch
  check_programs_of "$1" "the rpm"
  check "rpm removes it" rpm --root "$1" --erase cronlatch
  check "no file is left" no_file_left "$1"
}
no_file_left() { local left; left=$(find "$1/usr" ! -type d 2>/dev/null); [ -z "$left" ] || { echo "$left" && return 1; }; }

check_programs_of() {  # ROOT PACKAGE
  local program
  for program in cronlatch kubectl-cronlatch; do
    check "$2 contains $program for $architecture" "is_for_$architecture" "$1/usr/bin/$program"
  done
  # shellcheck disable=SC2016  # for the shell that is started
  runs "$architecture" "its program runs there, without a library" bash -c '[ "$(chroot "$1" /usr/bin/cronlatch version)" = "cronlatch $2" ]' - "$1" "$VERSION"
  runs "$architecture" "its plugin runs there" chroot "$1" /usr/bin/kubectl-cronlatch help
}
