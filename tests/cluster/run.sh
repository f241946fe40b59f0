#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev cluster test [--as-is | --quick] [SCENARIO...]: runs scenarios with ctest (preset cluster) on a cluster called `test`, which
# is brought up first and, unless it was up before, taken down afterwards. --as-is: the cluster as it is, with what is installed
# there. --quick: the image is packed from build/release and build/operator, in seconds. The log of each scenario is
# build/test-results/cluster/SCENARIO.log.
set -uo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../../scripts/common.sh"
cd "$ROOT" || exit 1

SCENARIOS=tests/cluster/scenarios
names() { find "$SCENARIOS" -name '*.sh' -printf '%f\n' | sed 's/\.sh$//' | sort; }

options=()
case ${1:-} in
  --as-is)
    options+=(--fixture-exclude-any cluster)
    rm -f build/test-results/cluster/skipped
    shift
    ;;
  --quick) export CLUSTER_UP=--quick && shift ;;
esac
if [ "${1:-}" = list ]; then
  for name in $(names); do printf '%-20s %s\n' "$name" "$(sed -n '3s/^# //p' "$SCENARIOS/$name.sh")"; done
  exit
fi
for name; do
  if [ ! -f "$SCENARIOS/$name.sh" ]; then
    echo "./dev cluster test: there is no scenario '$name', there are: $(names | tr '\n' ' ')" >&2
    exit 64
  fi
done
if [ $# -gt 0 ]; then
  options+=(--tests-regex "^cluster/($(IFS='|' && echo "$*"))\$")
elif [ -z "${LONG_TESTS:-}" ]; then
  options+=(--label-exclude '^long$')
fi
# A scenario has no time to build another version. Without it that scenario is skipped.
if [[ " $* " == *" upgrade_from_0_1_0 "* ]] || [ -n "${LONG_TESTS:-}" ]; then bash scripts/baseline.sh image >/dev/null || true; fi
configure suites || exit
exec ctest --preset cluster "${options[@]}"
