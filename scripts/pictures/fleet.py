# SPDX-License-Identifier: Apache-2.0
# The cluster of the pictures in docs/dashboards.md: 20 CronJobs, and what happens on the day that they show. Times are
# seconds since midnight UTC of that day.
import dataclasses

MINUTE, HOUR, DAY = 60, 3600, 86400


@dataclasses.dataclass(frozen=True)
class CronJob:
    namespace: str
    name: str
    every: int            # seconds between two scheduled times
    at: int               # the first scheduled time of a day
    median: float         # duration of a run in seconds
    spread: float = 0.15  # standard deviation of its logarithm
    lock: str = ""        # default: the name of the CronJob
    wait: int = 0         # on-busy=wait with this wait-timeout; 0: skip

    @property
    def lock_name(self):
        return f"{self.namespace}/{self.lock or self.name}"


FLEET = [
    CronJob("shop", "cart-cleanup", 5 * MINUTE, 0, 18, 0.4),
    CronJob("shop", "export-orders", 15 * MINUTE, 2 * MINUTE, 8 * MINUTE, 0.5),
    CronJob("shop", "mail-digest", DAY, 6 * HOUR, 18 * MINUTE),
    CronJob("shop", "nightly-report", DAY, 2 * HOUR, 55 * MINUTE, lock="warehouse", wait=2 * HOUR),
    CronJob("shop", "price-sync", 10 * MINUTE, MINUTE, 3 * MINUTE, 0.5),
    CronJob("shop", "reindex", 30 * MINUTE, 10 * MINUTE, 24 * MINUTE, 0.25),
    CronJob("shop", "report-hourly", HOUR, 20 * MINUTE, 12 * MINUTE),
    CronJob("shop", "stock-sync", 10 * MINUTE, 4 * MINUTE, 70, 0.3),
    CronJob("data", "backup-db", DAY, 30 * MINUTE, 100 * MINUTE, 0.05),
    CronJob("data", "backup-verify", DAY, 4 * HOUR + 30 * MINUTE, 45 * MINUTE),
    CronJob("data", "etl-compact", 6 * HOUR, HOUR + 25 * MINUTE, 40 * MINUTE, lock="etl", wait=HOUR),
    CronJob("data", "etl-load", HOUR, 0, 36 * MINUTE, 0.2, lock="etl"),
    CronJob("data", "ml-features", 3 * HOUR, 45 * MINUTE, 80 * MINUTE),
    CronJob("data", "partitions", DAY, 10 * MINUTE, 30),
    CronJob("data", "vacuum", DAY, 3 * HOUR, 25 * MINUTE),
    CronJob("billing", "dunning", DAY, 8 * HOUR + 30 * MINUTE, 20 * MINUTE, lock="budget", wait=30 * MINUTE),
    CronJob("billing", "fx-rates", 30 * MINUTE, MINUTE, 15, 0.3),
    CronJob("billing", "invoices", HOUR, 40 * MINUTE, 6 * MINUTE, 0.3),
    CronJob("billing", "payouts", DAY, 10 * HOUR + 30 * MINUTE, 30 * MINUTE, lock="budget", wait=HOUR),
    CronJob("billing", "reconcile", 2 * HOUR, 0, 50 * MINUTE, 0.2, lock="budget"),
]

TTL = 120  # the lease of a run, in seconds

# The store is unavailable: a run that holds a lock is stopped before its lease ends, and no run can start.
OUTAGE = (3 * HOUR + 10 * MINUTE, 3 * HOUR + 22 * MINUTE)
# A node fails. One run on it is killed, and its lease expires; so is the replica of the operator that is the leader.
NODE_FAILS = 14 * HOUR + 18 * MINUTE
KILLED = "reindex"
# A registry refuses requests.
REGISTRY_FAILS = (9 * HOUR + 30 * MINUTE, 9 * HOUR + 50 * MINUTE)
# Annotations that the webhook refuses.
DENIED = [11 * HOUR + 5 * MINUTE, 11 * HOUR + 6 * MINUTE, 11 * HOUR + 9 * MINUTE]
# CronJobs are deployed.
DEPLOYED = [9 * HOUR + 15 * MINUTE, 13 * HOUR + 40 * MINUTE, 16 * HOUR + 5 * MINUTE]
