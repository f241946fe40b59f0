# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The one list of packages (Debian 12) and how they get here. Sourced by scripts/common.sh.

PACKAGES=(
  g++ cmake ninja-build ccache                                       # build
  libssl-dev libhiredis-dev libc-ares-dev libyaml-cpp-dev            # link
  libboost-dev libcpprest-dev nlohmann-json3-dev prometheus-cpp-dev  # link the operator
  libgtest-dev libgmock-dev redis-server openssl strace              # test
  postgresql-15 pgbouncer                                            # test: a server of the PostgreSQL store, a pooler
  prometheus prometheus-node-exporter python3                        # rules, dashboards, and a client of the exporter
  prometheus-pushgateway                                             # the receiver of metrics-push
  skopeo docker-registry buildah tinyproxy-bin                       # image lookups: client, registry, builder, proxy
  tzdata                                                             # time zones: tests, and the operator's image
  clang lld libclang-rt-14-dev clang-format clang-tidy shellcheck    # sanitizers, fuzzers, lint
  spin                                                               # test: the specification of the lease protocol
  codespell                                                          # spelling
  mandoc groff-base bsdextrautils zsh fish                           # test: manual pages, completions
  llvm                                                               # what the tests cover
  python3-pip                                                        # test: servers of other versions
  yq jq curl                                                         # render and look at the chart; requests to an API server
  util-linux iproute2 procps                           # look at programs and at what they do
)

# What only a cluster needs (./dev cluster, and its stage in ./dev test).
# shellcheck disable=SC2034  # used by dev and scripts/test.sh
CLUSTER_PACKAGES=(
  etcd-server containerd runc containernetworking-plugins iptables conntrack  # a node and its control plane
  debootstrap busybox-static                                                  # images without a registry
  musl-tools binutils                                                         # an Alpine-like image
)

# What only a release needs (./dev release, and its test in ./dev test all).
# shellcheck disable=SC2034  # used by dev
RELEASE_PACKAGES=(rpm curl xz-utils ca-certificates debootstrap busybox-static)

# What only a build for arm64 needs (presets release-arm64, operator-arm64 and dev-arm64): compiler and emulator.
# shellcheck disable=SC2034  # used by dev
CROSS_PACKAGES=(g++-aarch64-linux-gnu qemu-user-static)

# Packages of arm64 in the sysroot (scripts/sysroot.sh).
# shellcheck disable=SC2034  # used by scripts/sysroot.sh
SYSROOT_PACKAGES=(
  libc6-dev libstdc++-12-dev libssl-dev libhiredis-dev libc-ares-dev libyaml-cpp-dev nlohmann-json3-dev  # link the two programs
  libboost-dev libcpprest-dev prometheus-cpp-dev                                                         # link the operator
  skopeo ca-certificates tzdata                                                                          # files of its image
  libgtest-dev libgmock-dev                                                                              # link the C++ tests
)

missing_packages() {  # missing_packages NAME...
  local name
  for name; do
    case $(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null) in
      installed) ;;
      *) printf '%s\n' "$name" ;;
    esac
  done
}

# Package scripts may start nothing while this runs: a service on the port of Redis would disturb the tests.
without_services() {
  local policy=/usr/sbin/policy-rc.d as_root=("$@") status=0
  if [ -e "$policy" ]; then
    "${as_root[@]}"
    return
  fi
  "${SUDO[@]}" sh -c "printf '#!/bin/sh\nexit 101\n' >$policy && chmod +x $policy"
  "${as_root[@]}" || status=$?
  "${SUDO[@]}" rm -f "$policy"
  return $status
}

# require_packages [NAME...]: installs what is missing of PACKAGES and these; returns at once when nothing is.
require_packages() {
  local missing
  mapfile -t missing < <(missing_packages "${PACKAGES[@]}" "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  SUDO=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "./dev: these packages are missing, and installing them needs root or sudo:" >&2
      echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
      exit 69
    fi
    SUDO=(sudo)
  fi
  say "installing ${#missing[@]} packages: ${missing[*]}"
  "${SUDO[@]}" apt-get update -q -o Acquire::Retries=3 >&2
  without_services "${SUDO[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y -o Acquire::Retries=3 --no-install-recommends "${missing[@]}" >&2
}
