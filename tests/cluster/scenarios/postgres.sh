#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The operator and gated Jobs with a PostgreSQL store: a run, a skipped run, metrics, Events, and a server that is killed during a run.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted
# shellcheck source=tests/cluster/postgres.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../postgres.sh"

use_postgres() { set_values --set "store.url=$POSTGRES_URL,store.secretName=postgres-store,store.operatorSecretName=postgres-store"; }
restore() {
  install_chart >/dev/null
  stop_postgres
  kubectl -n cronlatch delete secret postgres-store --ignore-not-found >/dev/null
  kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1
}
trap restore EXIT

make_postgres
sql postgres "CREATE ROLE cronlatch_owner LOGIN PASSWORD 'of the owner'"
sql postgres "CREATE ROLE cronlatch_user NOLOGIN"
sql postgres "CREATE ROLE cron LOGIN PASSWORD 'of the runs' IN ROLE cronlatch_user"
sql postgres "CREATE DATABASE cronlatch OWNER cronlatch_owner ENCODING 'UTF8' TEMPLATE template0"
postgres_secret cronlatch postgres-store cron 'of the runs'
postgres_secret "$NS" postgres-store cron 'of the runs'
postgres_secret "$NS" postgres-owner cronlatch_owner 'of the owner'
check "the chart is installed with a PostgreSQL store" use_postgres

# A Job that runs `cronlatch store init` as the owner.
store_init() {
  k apply -f - <<YAML
apiVersion: batch/v1
kind: Job
metadata: {name: store-init}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
      - name: main
        image: cronlatch.test/cronlatch:dev
        imagePullPolicy: Never
        command: [/cronlatch, store, init, --store, "$POSTGRES_URL", --credentials-dir, /owner]
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
        volumeMounts: [{name: owner, mountPath: /owner, readOnly: true}]
      volumes: [{name: owner, secret: {secretName: postgres-owner}}]
YAML
}
cronjob first lock=shared -- "$HOLD"
cronjob second lock=shared -- "echo ran"
start_job first early
becomes "before the schema exists, a run fails" failed early
check "its log contains the command that creates the schema" log_has early "cronlatch store init"

check "a Job with the owner's Secret starts" store_init
needs "cronlatch store init completes" complete store-init
becomes "the operator reads the store" exported "cronlatch_store_up{endpoint=\"$POSTGRES_NAME.:5432\"} 1"

start_job first holder
needs "a run holds the lock" holds holder
start_job second other
becomes "a run of the second CronJob completes" complete other
check "it was skipped, and its outcome contains the holder" outcome_has other '"outcome":"skipped"' '"reason":"held"' "$NS/$(pod_of holder)"
becomes "an Event on its Job contains the holder" event Skipped Job/other "$(pod_of holder)"
becomes "the grant is exported" exported "cronlatch_lock_acquired_total$(lock_of first shared) 1"
becomes "the skip is exported" exported "cronlatch_lock_skipped_total$(lock_of second shared ',reason="held"') 1"

fence=$(sql cronlatch "SELECT fence FROM cronlatch.locks WHERE lock = '$NS/shared'")
check "the server is killed" kill_postgres
becomes "the operator reports that the store is unavailable" exported "cronlatch_store_up{endpoint=\"$POSTGRES_NAME.:5432\"} 0"
check "the holder still runs" unfinished holder
start_postgres
becomes "the operator reads the store again" exported "cronlatch_store_up{endpoint=\"$POSTGRES_NAME.:5432\"} 1"
same_grant() { [ "$(sql cronlatch "SELECT state || fence FROM cronlatch.locks WHERE lock = '$NS/shared'")" = "held$fence" ]; }
check "the server has the grant" same_grant
start_job second again
becomes "another run is skipped" complete again
check "its outcome is skipped" outcome_has again '"outcome":"skipped"'
end_command holder
becomes "the holder completes" complete holder
check "its outcome is ran" outcome_has holder '"outcome":"ran"'
becomes "the release is exported" exported "cronlatch_lock_released_total$(lock_of first shared) 1"
becomes "no grant was restored" exported "cronlatch_lock_restored_total$(lock_of first shared) 0"
start_job second later
becomes "after that, the second CronJob runs" log_has later ran
finish
