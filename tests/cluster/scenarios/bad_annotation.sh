#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A bad annotation is refused by kubectl apply: with the field's path, what is wrong, and a correct example.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

refused() {  # refused TEXT ANNOTATION...
  local text=$1 seen
  shift
  seen=$(cronjob bad "$@" -- "echo never" 2>&1) && echo "was accepted: $seen" && return 1
  printf '%s\n' "$seen"
  [[ $seen == *"$text"* ]]
}
check "an unknown annotation is refused, and the nearest is named" refused on-busy lock=true on-bussy=wait
check "a duration without a unit is refused, with its path" refused 'cronlatch.dev/ttl' lock=true ttl=30
check "a word that is no lock name is refused" refused 'cronlatch.dev/lock' lock=yes
check "an option that tenants cannot set is refused" refused 'cronlatch.dev/store' lock=true store=redis://evil
check "cluster scope is refused where it is not allowed" refused 'lock-scope' lock=all lock-scope=cluster
nothing_there() { [ -z "$(k get cronjobs -o name)" ]; }
check "nothing was stored" nothing_there

job_accepted() { job bad lock=mine ttl=30 -- "echo never"; }
refuses "a bad annotation on a Job is refused, too" job_accepted
several() {
  manifest CronJob two lock=true -- true |
    sed 's/containers: \[{name: main/containers: [{name: side, image: x}, {name: main/' | k apply -f -
}
refuses "several containers without a choice are refused" several
no_command() {
  local seen
  seen=$(manifest CronJob bare lock=true -- true | sed 's/, command: \[[^]]*\]//' | k apply -f - 2>&1) && return 1
  [[ $seen == *cronlatch.dev/command* ]] || { printf '%s\n' "$seen"; return 1; }
}
check "a container without a command is refused, and the message shows the way out" no_command
finish
