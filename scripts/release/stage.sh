# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The files of a release below a folder: packages, and the roots of the two images. Sourced by scripts/release.sh.
# shellcheck disable=SC2153  # scripts/common.sh sets ROOT, BINARY and PLUGIN

# packages_of FILE...: the Debian packages that contain them. dpkg knows some libraries below /lib, others below /usr/lib.
packages_of() {
  local file real found
  found=$(for file; do
    real=$(realpath -- "$file")
    printf '%s\n' "$file" "$real" "${real#/usr}"
  done | sort -u | xargs dpkg-query --search 2>/dev/null || true)
  for file; do
    grep -qF "/$(basename -- "$(realpath -- "$file")")" <<<"$found" || { echo "no package contains $file" >&2 && return 1; }
  done
  sed 's/: .*//; s/:[a-z0-9]*$//' <<<"$found" | sort -u
}

# linked_packages TARGET: the packages whose static libraries are linked into a program of the preset release.
linked_packages() {
  local archives
  mapfile -t archives < <(ninja -C "$ROOT/build/release" -t commands "$1" | tail -n 1 | tr ' ' '\n' | grep -E '^/.*\.a$' | sort -u
    for file in libc.a libstdc++.a libgcc.a; do g++ -print-file-name=$file; done)
  packages_of "${archives[@]}"
}

# loaded_files PROGRAM...: the shared libraries that the loader loads, and the loader.
loaded_files() { ldd "$@" | grep -oE '/[^ :)]+\.so[^ )]*' | sort -u; }

# Sets the lists of packages: WRAPPER, PLUGIN_PACKAGES, PROGRAMS (both) and OPERATOR (the files of its image).
find_packages() {
  local files
  mapfile -t WRAPPER < <(linked_packages cronlatch)
  mapfile -t PLUGIN_PACKAGES < <(printf '%s\n' nlohmann-json3-dev && linked_packages kubectl-cronlatch)
  mapfile -t PROGRAMS < <(printf '%s\n' "${WRAPPER[@]}" "${PLUGIN_PACKAGES[@]}" | sort -u)
  mapfile -t files < <(loaded_files "$ROOT/build/operator/cronlatch-operator" /usr/bin/skopeo)
  mapfile -t OPERATOR < <({ packages_of "${files[@]}" && printf '%s\n' skopeo ca-certificates tzdata; } | sort -u)
  [ ${#WRAPPER[@]} -gt 3 ] && [ ${#OPERATOR[@]} -gt 5 ]
}

# licenses FOLDER PACKAGE...: the copyright file of each package.
licenses() {
  local folder=$1 package
  shift
  for package; do install -D -m 644 "/usr/share/doc/$package/copyright" "$folder/$package/copyright"; done
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
  for file in /usr/share/ca-certificates/mozilla/*.crt; do awk 1 "$file"; done  # 1: the last line gets its newline
}

# stage_operator FOLDER: the image of the chart, with the paths of the Dockerfile. var/lib/dpkg/status.d lists
# the packages of the files for scanners, as in distroless images.
stage_operator() {
  local root=$1 operator=$ROOT/build/operator/cronlatch-operator file package
  install -D -m 755 -t "$root" "$BINARY" "$PLUGIN" "$operator"
  install -D -m 755 /usr/bin/skopeo "$root/usr/bin/skopeo"
  loaded_files "$operator" /usr/bin/skopeo | while read -r file; do install -D -m 755 "$file" "$root$file"; done
  install -d "$root/etc/ssl/certs"
  ca_certificates >"$root/etc/ssl/certs/ca-certificates.crt"
  copy_zones "$root"
  install -D -m 644 /usr/lib/os-release "$root/etc/os-release"
  install -d -m 1777 "$root/tmp"
  echo 'cronlatch:x:65532:65532::/nonexistent:/nonexistent' >"$root/etc/passwd"
  echo 'cronlatch:x:65532:' >"$root/etc/group"
  install -d "$root/var/lib/dpkg/status.d"
  licenses "$root/usr/share/doc" "${OPERATOR[@]}"
  for package in "${OPERATOR[@]}"; do
    dpkg-query --status "$package" >"$root/var/lib/dpkg/status.d/$package"
  done
}
