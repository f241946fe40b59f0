#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev cluster test [--as-is | --quick] [--kubernetes VERSION] [SCENARIO...]: runs scenarios with ctest (preset cluster) on
# a cluster named `test`. It is started first, and stopped afterwards unless it ran before. --as-is: uses the running
# cluster and its installed version. --quick: packs the image from build/release and build/dev, in seconds. The log of
# each scenario is build/test-results/cluster/SCENARIO.log.
set -uo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../../scripts/common.sh"
cd "$ROOT" || exit 1

SCENARIOS=tests/cluster/scenarios
names() { find "$SCENARIOS" -name '*.sh' -printf '%f\n' | sed 's/\.sh$//' | sort; }

options=()
case ${1:-} in
  --as-is)
    # Without names of scenarios, ctest would also select the fixture's own tests, by their label.
    options+=(--fixture-exclude-any cluster --exclude-regex '^cluster/(up|down)$')
    rm -f build/test-results/cluster/skipped.*
    shift
    ;;
  --quick) shift ;;
  *) export IMAGE_FROM=Dockerfile ;;
esac
if [ "${1:-}" = --kubernetes ]; then
  export KUBERNETES_VERSION=${2:?--kubernetes requires a version, for example 1.36}
  shift 2
fi
if [ "${1:-}" = list ]; then
  for name in $(names); do printf '%-20s %s\n' "$name" "$(sed -n '3s/^# //p' "$SCENARIOS/$name.sh")"; done
  exit
fi
for name; do
  if [ ! -f "$SCENARIOS/$name.sh" ]; then
    echo "./dev cluster test: unknown scenario '$name'; the scenarios are: $(names | tr '\n' ' ')" >&2
    exit 64
  fi
done
if [ $# -gt 0 ]; then
  options+=(--tests-regex "^cluster/($(IFS='|' && echo "$*"))\$")
elif [ -z "${LONG_TESTS:-}" ]; then
  options+=(--label-exclude '^long$')
fi
# Building version 0.1.0 takes longer than the time limit of a scenario. Without it the scenario is skipped.
if [[ " $* " == *" upgrade_from_0_1_0 "* ]] || [ -n "${LONG_TESTS:-}" ]; then bash scripts/baseline.sh image >/dev/null || true; fi
cmake --preset suites >&2 || exit  # always: no build notices a new scenario
exec ctest --preset cluster "${options[@]}"
