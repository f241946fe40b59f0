#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# When the store refuses the credentials, a gated Job fails with a reason, and its command does not run.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

wrong=$(mktemp)
printf wrong >"$wrong"
secret_of_files "$NS" wrong "$DIR"/store/{username,ca.crt,tls.crt,tls.key} "password=$wrong"
rm -f "$wrong"
cronjob wrong-password lock=true store-secret=wrong -- "echo never"
cronjob no-credentials lock=true store-secret=missing -- "echo never"
start_job wrong-password one
start_job no-credentials two

becomes "the Job with a wrong password fails" failed one
check "its outcome is refused, with reason auth" outcome_has one '"outcome":"refused"' '"reason":"auth"'
becomes "the Job without credentials fails" failed two
check "its outcome is refused, with reason config" outcome_has two '"outcome":"refused"' '"reason":"config"'
check "its log names the missing file ca.crt" log_has two ca.crt
check "the first command did not run" did_not_print one never
check "the second command did not run" did_not_print two never
finish
