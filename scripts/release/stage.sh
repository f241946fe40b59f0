# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The files of a release below a folder: packages, and the roots of the two images. Programs and Debian packages are those of
# the architecture in use (architecture.sh). Sourced by scripts/release.sh.
# shellcheck disable=SC2153  # use_architecture and find_packages set the variables

# licenses FOLDER PACKAGE...: the copyright file of each package.
licenses() {
  local folder=$1 package
  shift
  for package; do install -D -m 644 "$SYSTEM/usr/share/doc/$package/copyright" "$folder/$package/copyright"; done
}

# stage_package FOLDER: the tree of the packages deb and rpm, and of the tarball.
stage_package() {
  local usr=$1/usr page
  install -D -m 755 "$BINARY" "$usr/bin/cronlatch"
  install -D -m 755 "$PLUGIN" "$usr/bin/kubectl-cronlatch"
  install -D -m 755 packaging/completions/kubectl_complete-cronlatch "$usr/bin/kubectl_complete-cronlatch"
  for page in packaging/man/*.1; do
    install -d "$usr/share/man/man1"
    gzip --no-name --best <"$page" >"$usr/share/man/man1/${page##*/}.gz"
    chmod 644 "$usr/share/man/man1/${page##*/}.gz"
  done
  install -D -m 644 packaging/completions/cronlatch.bash "$usr/share/bash-completion/completions/cronlatch"
  install -D -m 644 packaging/completions/_cronlatch "$usr/share/zsh/vendor-completions/_cronlatch"
  install -D -m 644 packaging/completions/cronlatch.fish "$usr/share/fish/vendor_completions.d/cronlatch.fish"
  install -D -m 644 -t "$usr/share/doc/cronlatch" README.md CHANGELOG.md SECURITY.md
  install -D -m 644 LICENSE "$usr/share/doc/cronlatch/copyright"
  install -D -m 644 -t "$usr/share/doc/cronlatch/examples" packaging/examples/report.*
  licenses "$usr/share/doc/cronlatch/licenses" "${PROGRAMS[@]}"
}

# stage_wrapper FOLDER: the image that gated pods copy the wrapper from.
stage_wrapper() {
  install -D -m 755 "$BINARY" "$1/cronlatch"
  install -D -m 644 LICENSE "$1/usr/share/doc/cronlatch/copyright"
  licenses "$1/usr/share/doc" "${WRAPPER[@]}"
}

# The certificates of the package ca-certificates, as its script update-ca-certificates writes them by default. The file of
# this host can also contain certificates that only its administrator trusts.
ca_certificates() {
  local file
  for file in "$SYSTEM"/usr/share/ca-certificates/mozilla/*.crt; do awk 1 "$file"; done  # 1: the last line gets its newline
}

# stage_operator FOLDER: the image of the chart, with the paths of the Dockerfile. var/lib/dpkg/status.d lists
# the packages of the files for scanners, as in distroless images.
stage_operator() {
  local root=$1 file package
  install -D -m 755 -t "$root" "$BINARY" "$PLUGIN" "$OPERATOR_PROGRAM"
  install -D -m 755 "$SYSTEM/usr/bin/skopeo" "$root/usr/bin/skopeo"
  loaded_files "$OPERATOR_PROGRAM" "$SYSTEM/usr/bin/skopeo" | while read -r file; do install -D -m 755 "$SYSTEM$file" "$root$file"; done
  install -d "$root/etc/ssl/certs"
  ca_certificates >"$root/etc/ssl/certs/ca-certificates.crt"
  copy_zones "$root" "$SYSTEM"
  install -D -m 644 /usr/lib/os-release "$root/etc/os-release"
  install -d -m 1777 "$root/tmp"
  echo 'cronlatch:x:65532:65532::/nonexistent:/nonexistent' >"$root/etc/passwd"
  echo 'cronlatch:x:65532:' >"$root/etc/group"
  install -d "$root/var/lib/dpkg/status.d"
  licenses "$root/usr/share/doc" "${OPERATOR[@]}"
  for package in "${OPERATOR[@]}"; do
    query_packages --status "$package" >"$root/var/lib/dpkg/status.d/$package"
  done
}
