#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The value admission.mode: which objects and conditions it renders, and which values it requires. policy_mode_test.sh evaluates them.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

POLICY=(--set admission.mode=policy --set clusterName=eu-1)
POLICIES='map(select(.kind | startswith("MutatingAdmissionPolicy")))'
CONDITIONS='[one("MutatingWebhookConfiguration"; "cronlatch").webhooks[] | select(.name | startswith("annotated-jobs")).matchConditions[].name]'

render "${BASE[@]}"
check "by default no MutatingAdmissionPolicy is rendered" holds "$POLICIES == []"
check "by default the webhook receives each annotated Job" holds "$CONDITIONS"' == ["requests-a-lock"]'

render "${BASE[@]}" "${POLICY[@]}"
check "mode policy renders the policy and its binding" holds "$POLICIES"' | map("\(.apiVersion) \(.kind)/\(.metadata.name)") | sort
  == ["admissionregistration.k8s.io/v1 MutatingAdmissionPolicy/cronlatch-gated-pods", "admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding/cronlatch-gated-pods"]'
check "the webhook then receives only Jobs that the policy did not gate" holds "$CONDITIONS"' == ["requests-a-lock", "is-not-gated-by-the-policy"]'
check "an error in the policy leaves the Job to the webhook" holds 'one("MutatingAdmissionPolicy"; "cronlatch-gated-pods").spec.failurePolicy == "Ignore"'
check "an uninstall deletes the policy, so that no Job is gated by values of the past" holds "$POLICIES"' | all(.metadata.annotations["helm.sh/resource-policy"] == null)'
check "the two validating policies remain" holds '[.[] | select(.kind == "ValidatingAdmissionPolicy").metadata.name] | contains(["cronlatch-gated-jobs", "cronlatch-mirrored-cronjobs"])'
render "${BASE[@]}" "${POLICY[@]}" --api-versions admissionregistration.k8s.io/v1beta1/MutatingAdmissionPolicy
check "where the API server serves only v1beta1, v1beta1 is rendered" holds "$POLICIES"' | map(.apiVersion) | unique == ["admissionregistration.k8s.io/v1beta1"]'
render "${BASE[@]}" "${POLICY[@]}" --set 'namespaces={shop}'
check "the policy is limited to the served namespaces" holds 'one("MutatingAdmissionPolicy"; "cronlatch-gated-pods").spec.matchConstraints.namespaceSelector.matchExpressions[0].values == ["shop"]'
render "${BASE[@]}" "${POLICY[@]}" --set operator.enabled=false
check "without the operator there is no policy" holds "$POLICIES == []"

check "the policy requires clusterName" refused_with "clusterName is empty" "${BASE[@]}" --set admission.mode=policy
check "the policy requires store.url" refused_with "store.url is empty" "${POLICY[@]}"
check "another mode is refused" refused_with "admission" "${BASE[@]}" --set admission.mode=auto
finish
