#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A gated Job runs where Pod Security's restricted profile is enforced, also with a read-only root and another uid.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/enforce-version=latest

# shellcheck disable=SC2016  # the pod's shell expands it
cronjob tight lock=true -- 'echo uid=$(id -u); touch /x 2>/dev/null && echo writable || echo read-only'
k patch cronjob tight --type=json --patch '[
  {"op":"add","path":"/spec/jobTemplate/spec/template/spec/containers/0/securityContext/readOnlyRootFilesystem","value":true},
  {"op":"add","path":"/spec/jobTemplate/spec/template/spec/securityContext/runAsUser","value":12345}]' >/dev/null
start_job tight run
becomes "the Job completes" complete run
check "its outcome is ran" outcome_has run '"outcome":"ran"'
check "its command ran with the uid of the pod" log_has run uid=12345
check "its root was read-only" log_has run read-only

loose() { k run loose --image=cronlatch.test/shell:1 --image-pull-policy=Never --restart=Never --privileged -- true 2>&1; }
refused() { loose | grep -F 'violates PodSecurity "restricted'; }
check "control: the profile is enforced, so a privileged pod is refused" refused
finish
