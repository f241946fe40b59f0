#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A gated Job runs where Pod Security's restricted profile is enforced, also with a read-only root and a uid of its own.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/enforce-version=latest

# shellcheck disable=SC2016  # for the pod's shell
cronjob tight lock=true -- 'echo uid=$(id -u); touch /x 2>/dev/null && echo writable || echo read-only'
k patch cronjob tight --type=json --patch '[
  {"op":"add","path":"/spec/jobTemplate/spec/template/spec/containers/0/securityContext/readOnlyRootFilesystem","value":true},
  {"op":"add","path":"/spec/jobTemplate/spec/template/spec/securityContext/runAsUser","value":12345}]' >/dev/null
start_job tight run
becomes "it completes" complete run
check "its outcome is ran" outcome_has run '"outcome":"ran"'
check "it ran with its own uid" says run uid=12345
check "and without a writable root" says run read-only

loose() { k run loose --image=cronlatch.test/shell:1 --image-pull-policy=Never --restart=Never --privileged -- true 2>&1; }
refused() { loose | grep -F 'violates PodSecurity "restricted'; }
check "the profile is really enforced here: a privileged pod is refused" refused
finish
