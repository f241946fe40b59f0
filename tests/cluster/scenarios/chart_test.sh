#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `helm test` passes: the chart's own test runs a real gated Job.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"

# Without --logs: helm looks for those of a pod, and the test is a Job.
helm_test() { helm test cronlatch --namespace cronlatch --timeout 2m; }
check "helm test cronlatch" helm_test
finish
