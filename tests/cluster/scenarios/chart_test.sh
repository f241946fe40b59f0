#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `helm test` passes: the chart's own test runs a real gated Job.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"

# Without --logs, because helm reads the logs of pods only, and the test is a Job.
helm_test() { helm test cronlatch --namespace cronlatch --timeout 2m; }
check "helm test cronlatch succeeds" helm_test
finish
