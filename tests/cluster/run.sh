#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev cluster test [SCENARIO...]: runs scenarios on a real cluster named `test`. It is started first, and stopped
# afterwards unless it ran before. One line per check: ok, FAIL or skip. --as-is: uses the running cluster and its
# installed version. --quick: packs the image from build/release and build/operator, in seconds.
set -uo pipefail
# shellcheck source=scripts/cluster_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../../scripts/cluster_common.sh"

SCENARIOS=$ROOT/tests/cluster/scenarios
RESULTS=$ROOT/build/test-results/cluster
export CLUSTER=${CLUSTER:-test}
AT_ONCE=${AT_ONCE:-4}
# The scenarios that wait longest are started first.
FIRST=(rotation any_image_kubelet view_fleet any_image two_clusters view scheduled)
# Scenarios that disturb others, in this order. All other scenarios run in parallel before them, in separate namespaces.
ALONE=(apiserver_restart store_outage outage upgrade selected leaks own_certificate view_restarts uninstall uninstall_kubectl upgrade_from_0_1_0)
# Scenarios that run only when they are named, or with LONG_TESTS=1 (./dev test all).
LONG=(upgrade_from_0_1_0)

ONE_BY_ONE="the rest one by one"  # scripts/test.sh waits for this line

names() { find "$SCENARIOS" -name '*.sh' -printf '%f\n' | sed 's/\.sh$//' | sort; }
is_alone() { [[ " ${ALONE[*]} " == *" $1 "* ]]; }
is_chosen() { [[ " ${chosen[*]} " == *" $1 "* ]]; }
is_long() { [[ " ${LONG[*]} " == *" $1 "* ]]; }
is_first() { [[ " ${FIRST[*]} " == *" $1 "* ]]; }

# run NAME: prints the output of the scenario when it has ended.
run() {
  local name=$1 log=$RESULTS/$1.log start=$SECONDS status=0
  timeout --kill-after=10 400 bash "$SCENARIOS/$name.sh" >"$log" 2>&1 || status=$?
  # A scenario that was aborted has not run all its checks.
  if [ $status -ne 0 ] && ! grep -q '^FAIL ' "$log"; then echo "FAIL  $name: exit code $status" >>"$log"; fi
  if ! grep -qE '^(ok|FAIL|skip) ' "$log"; then echo "FAIL  $name: no check ran" >>"$log"; fi
  cat "$log"
  printf '%4ds  scenario %s took %d s\n' "$SECONDS" "$name" $((SECONDS - start)) >&2
}

as_is=no
how=()
case ${1:-} in
  --as-is) as_is=yes && shift ;;
  --quick) how=(--quick) && shift ;;
esac
chosen=("$@")
if [ $# -eq 0 ]; then
  for name in $(names); do
    if [ -n "${LONG_TESTS:-}" ] || ! is_long "$name"; then chosen+=("$name"); fi
  done
fi
if [ "${1:-}" = list ]; then
  for name in $(names); do printf '%-20s %s\n' "$name" "$(sed -n '3s/^# //p' "$SCENARIOS/$name.sh")"; done
  exit
fi
for name in "${chosen[@]}"; do
  if [ ! -f "$SCENARIOS/$name.sh" ]; then
    echo "./dev cluster test: unknown scenario '$name'; the scenarios are: $(names | tr '\n' ' ')" >&2
    exit 64
  fi
done

# Building version 0.1.0 takes longer than the time limit of a scenario. Without it the scenario is skipped with a reason.
if is_chosen upgrade_from_0_1_0; then bash "$ROOT/scripts/baseline.sh" image >/dev/null || true; fi
mkdir -p "$RESULTS"
use_cluster "$CLUSTER"
was_up=no
[ ! -e "$DIR/complete" ] || was_up=yes
if [ $as_is = no ] && ! bash "$ROOT/scripts/cluster.sh" up "$CLUSTER" "${how[@]}" >&2; then
  echo "FAIL  cluster: did not start"
  [ $was_up = yes ] || bash "$ROOT/scripts/cluster.sh" down "$CLUSTER"
  exit 1
fi
beside=()
for name in "${FIRST[@]}"; do if is_chosen "$name"; then beside+=("$name"); fi; done
for name in "${chosen[@]}"; do is_alone "$name" || is_first "$name" || beside+=("$name"); done
for name in "${beside[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$AT_ONCE" ]; do wait -n; done
  run "$name" &
done
wait
step "$ONE_BY_ONE"
for name in "${ALONE[@]}"; do
  if is_chosen "$name"; then run "$name"; fi
done
[ $was_up = yes ] || bash "$ROOT/scripts/cluster.sh" down "$CLUSTER"
for name in "${chosen[@]}"; do
  if grep -q '^FAIL ' "$RESULTS/$name.log"; then exit 1; fi
done
