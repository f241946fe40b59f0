#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A bad annotation is refused by kubectl apply: with the field's path, what is wrong, and a correct example.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

refused() {  # refused TEXT ANNOTATION...
  local text=$1
  shift
  refused_with "$text" cronjob bad "$@" -- "echo never"
}
check "an unknown annotation is refused, and the nearest is named" refused on-busy lock=true on-bussy=wait
check "a duration without a unit is refused, with its path" refused 'cronlatch.dev/ttl' lock=true ttl=30
check "a word that is no lock name is refused" refused 'cronlatch.dev/lock' lock=yes
check "an option that tenants cannot set is refused" refused 'cronlatch.dev/store' lock=true store=redis://evil
check "cluster scope is refused where it is not allowed" refused 'lock-scope' lock=all lock-scope=cluster
check "nothing was stored" finds_none k get cronjobs -o name

job_accepted() { job bad lock=mine ttl=30 -- "echo never"; }
check "a bad annotation on a Job is refused, too" refused_with cronlatch.dev/ttl job_accepted
several() {
  manifest CronJob two lock=true -- true |
    sed 's/containers: \[{name: main/containers: [{name: side, image: x}, {name: main/' | k apply -f -
}
check "several containers without a choice are refused" refused_with "no annotation names the one to gate" several
no_command() { cronjob bare lock=true --; }
check "a container without a command and an image of an unlisted registry is refused, and the message shows a way out" \
  refused_with cronlatch.dev/command no_command
finish
