#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where the store refuses the credentials a gated Job fails and says why; its command never runs.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

wrong=$(mktemp)
printf wrong >"$wrong"
secret_of_files "$NS" wrong "$DIR"/store/{username,ca.crt,tls.crt,tls.key} "password=$wrong"
rm -f "$wrong"
cronjob stranger lock=true store-secret=wrong -- "echo never"
cronjob empty-handed lock=true store-secret=missing -- "echo never"
start_job stranger one
start_job empty-handed two

becomes "with a wrong password the Job fails" failed one
check "its outcome is refused, for authentication" outcome_has one '"outcome":"refused"' '"reason":"auth"'
becomes "without any credentials the Job fails" failed two
check "its outcome is refused, for what it lacks" outcome_has two '"outcome":"refused"' '"reason":"config"'
check "and the log says what: ca.crt" says two ca.crt
check "the first command did not run" never_said one never
check "nor did the second" never_said two never
finish
