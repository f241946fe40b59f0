# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The commands of docs/quickstart.md, executed as they are written. Sourced by scripts/cluster_quickstart.sh.
# shellcheck disable=SC2153  # use_cluster sets NAME and similar variables

SOURCE_HOST=${SOURCE#https://}
SOURCE_HOST=${SOURCE_HOST%%/*}

# as_public COMMAND...: in the cluster's network, where the public names have addresses of the node, and with the CA of
# these servers. Only the programs for this command see the changed /etc/hosts.
as_public() {
  # shellcheck disable=SC2016  # for the shell that is started
  in_cluster env -u HTTP_PROXY -u HTTPS_PROXY -u http_proxy -u https_proxy SSL_CERT_FILE="$DIR/registry/ca.crt" \
    CURL_CA_BUNDLE="$DIR/registry/ca.crt" unshare --mount --propagation private \
    bash -c 'mount --bind "$0" /etc/hosts && exec "$@"' "$DIR/registry/hosts" "$@"
}

# serve_files DIST VERSION: the files of the release, below the address that the page downloads from.
serve_files() {
  local home=$DIR/registry folder=$DIR/files/${SOURCE#https://*/}/releases/download
  leaf "$home/files" /CN=files "DNS:$SOURCE_HOST"
  mkdir -p "$folder"
  ln -s "$1" "$folder/v$2"
  start files env --chdir="$DIR/files" openssl s_server -quiet -accept 127.0.0.2:443 -cert "$home/files.crt" -key "$home/files.key" -WWW
  must_become 30 "$SOURCE_HOST answers" files as_public curl --silent --fail --output /dev/null "$SOURCE/releases/download/v$2/SHA256SUMS"
}

# page_commands WORD: the commands of the section whose heading begins with WORD. The host has no kind, and is no
# distribution with rpm.
page_commands() {
  awk -v wanted="$1" '/^## /{ on = ($2 == wanted) } on && /^ *```/ { code = !code; next } on && code { sub(/^ +/, ""); print }' "$ROOT/docs/quickstart.md" |
    grep -vE '^(kind create cluster|sudo rpm)'
}

# run_part WORD: executes these commands. What they install is only in an overlay that ends with them, and the programs of
# cronlatch on this machine are not in it: each part needs what it installs itself.
run_part() {
  local page=$DIR/page.$1 work=$DIR/reader
  page_commands "$1" >"$page"
  [ -s "$page" ] || stop_here "docs/quickstart.md has no commands below '## $1'"
  mkdir -p "$DIR/bin" "$work"
  ln -sf "$TOOLS/kubectl" "$TOOLS/helm" "$DIR/bin/"
  # shellcheck disable=SC2016  # for the shell that is started
  KUBECONFIG=$ADMIN HELM_CACHE_HOME=$DIR/helm HELM_CONFIG_HOME=$DIR/helm HELM_DATA_HOME=$DIR/helm PATH=$DIR/bin:$PATH \
    as_public bash -c 'set -euo pipefail
    mapfile -t lines <"$1"
    mount -t tmpfs tmpfs "$2"
    for folder in /usr /var/lib/dpkg /var/log; do
      layers=$2/${folder//\//_}
      mkdir "$layers" "$layers/upper" "$layers/work"
      mount -t overlay overlay -o "lowerdir=$folder,upperdir=$layers/upper,workdir=$layers/work" "$folder"
    done
    rm -f /usr/bin/cronlatch /usr/bin/kubectl-cronlatch /usr/local/bin/cronlatch /usr/local/bin/kubectl-cronlatch
    # A machine whose only user is root needs no sudo.
    command -v sudo >/dev/null || { printf "#!/bin/sh\nexec \"\$@\"\n" >/usr/local/bin/sudo && chmod 755 /usr/local/bin/sudo; }
    mkdir "$2/home" && cd "$2/home"
    for line in "${lines[@]}"; do
      printf "\n\$ %s\n" "$line"
      timeout 600 bash -euo pipefail -c "$line" </dev/null || { echo "./dev cluster: this command of docs/quickstart.md failed: $line" >&2 && exit 1; }
    done' page "$page" "$work" 2>&1 | tee "$DIR/log/page.log"
}

run_page() {
  run_part One || exit 1
  page_shows 'a takeover' 'took over from a holder'
  page_shows 'the output of the command' '^the command runs$'
  run_part Kubernetes || { print_state >&2 && exit 1; }
  page_shows 'an Event of the skipped run' ' Skipped '
  page_shows 'the explanation of the plugin' 'skipped because lock demo/nightly is held by'
  page_shows 'the metric of the skipped run' '^cronlatch_lock_skipped_total\{.*cronjob="nightly".* 1$'
  page_shows 'that nothing remains' 'no cluster-scoped object of cronlatch exists'
}
print_state() { kubectl get pods,pvc -A -o wide && kubectl get events -A --field-selector type=Warning; }
page_shows() { grep -qE -- "$2" "$DIR/log/page.log" || { print_state >&2; stop_here "the output of the page does not contain $1 ($2)"; }; }
