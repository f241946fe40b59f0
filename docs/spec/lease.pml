// SPDX-License-Identifier: Apache-2.0
// The lease protocol in Promela: three runs, two locks, one store, an unreliable network, data loss,
// revocations, and clocks of bounded rates. ./dev spec checks it. README.md names the script or the
// function of each action, and explains the bounds.
//
// Time is counted in ticks of the store's clock. What happens between two ticks happens at one time.
//
// The lines below are read by scripts/spec.sh: a kind, a name, the violated property, options of cc.
// A check finds no error. A long check runs with LONG_TESTS=1.
//   CHECK two_runs - -DRUNS=2 -DFAULTS=1 -DREVOKES=0 -DSAVES=0
//   CHECK three_runs - -DFAULTS=1 -DLOSS=0 -DREVOKES=0
//   LONG two_runs_all_faults - -DRUNS=2 -DFAULTS=2
//   LONG two_runs_longer_lease - -DRUNS=2 -DT=6 -DSLIP=2 -DO=2 -DW=2 -DATTEMPTS=2 -DFAULTS=1 -DLOSS=0
//   LONG two_runs_backward_step - -DRUNS=2 -DFAULTS=1 -DBACK=1 -DLOSS=0
//   LONG three_runs_two_faults - -DFAULTS=2 -DLOSS=0
//   LONG three_runs_data_loss - -DFAULTS=1 -DREVOKES=0
//   BITSTATE three_runs_all_faults - -DFAULTS=2 -DT=5 -DW=2 -DATTEMPTS=2
// A variant breaks one rule, and violates its property.
//   VARIANT NO_OWNER_CHECK s3_only_the_owner -DFAULTS=1 -DLOSS=0
//   VARIANT RENEW_AFTER_EXPIRY n1_within_the_lease -DRUNS=2 -DFAULTS=0 -DREVOKES=0
//   VARIANT GRANT_BEFORE_EXPIRY s3_only_the_owner -DFAULTS=0 -DLOSS=0
//   VARIANT LATE_REQUEST_ACCEPTED g5_too_late_changes_nothing -DRUNS=2 -DFAULTS=1 -DLOSS=0 -DREVOKES=0
//   VARIANT CLOSED_CLAIM_GRANTED g5_no_grant_after_the_end -DFAULTS=1 -DLOSS=0
//   VARIANT SKIP_NOT_RECORDED g5_no_grant_after_the_end -DRUNS=2 -DFAULTS=1 -DLOSS=0
//   VARIANT BUSY_IS_CERTAIN g5_no_grant_after_the_end -DRUNS=2 -DFAULTS=1 -DLOSS=0
//   VARIANT RELEASE_BEFORE_TREE_DEAD s5_tree_is_dead -DFAULTS=0 -DLOSS=0
//   VARIANT RELEASE_OF_BOTH_LOCKS s1_one_tree -DFAULTS=0 -DLOSS=0 -DREVOKES=0
//   VARIANT REVOKE_FREES_LOCK s1_one_tree -DRUNS=2 -DFAULTS=0 -DLOSS=0
//   VARIANT NO_MARGIN s1_one_tree -DRUNS=2 -DFAULTS=0 -DLOSS=0
//   VARIANT NO_KILL_AT_DEADLINE s1_one_tree -DRUNS=2 -DFAULTS=0 -DLOSS=0
//   VARIANT NO_KILL_OF_LOST_LEASE s1_after_a_loss -DRUNS=2 -DFAULTS=0 -DREVOKES=0
//   VARIANT LEASE_FROM_REPLY s1_one_tree -DRUNS=2 -DFAULTS=1 -DLOSS=0 -DREVOKES=0
//   VARIANT START_AFTER_LATE_GRANT s1_one_tree -DRUNS=2 -DW=4 -DFAULTS=1 -DLOSS=0 -DREVOKES=0
//   VARIANT START_ON_UNKNOWN s4_granted -DFAULTS=1 -DLOSS=0
//   VARIANT NO_RESTORE n3_restored -DFAULTS=0 -DREVOKES=0
//   VARIANT RESTORE_OVER_LIVE_LEASE s3_only_the_owner -DRUNS=2 -DFAULTS=0 -DREVOKES=0
//   VARIANT FENCE_NOT_RAISED s2_fence_rises -DRUNS=2 -DFAULTS=0 -DLOSS=0 -DBACK=1
//   VARIANT FENCE_WITHOUT_TIME s2_fence_rises -DRUNS=2 -DFAULTS=0 -DREVOKES=0
// A witness asserts that a situation does not occur. It is violated: the model contains the situation.
//   WITNESS TWO_LOCKS_HELD two_locks_held -DFAULTS=0 -DLOSS=0 -DREVOKES=0
//   WITNESS TAKEN_OVER taken_over -DFAULTS=0 -DLOSS=0
//   WITNESS TOO_LATE too_late -DFAULTS=1 -DLOSS=0
//   WITNESS REVOKED_BEFORE_THE_END revoked_before_the_end -DFAULTS=0 -DLOSS=0
//   WITNESS RESTORED restored -DFAULTS=0 -DREVOKES=0
//   WITNESS RESTORED_OVER_OLDER restored_over_older -DRUNS=2 -DFAULTS=0 -DREVOKES=0
//   WITNESS OVERLAP_AFTER_LOSS overlap_after_loss -DRUNS=2 -DFAULTS=0 -DREVOKES=0

// ---- bounds (cc -D changes them) ----

#define CLIENTS 3
#ifndef RUNS
#define RUNS 3      // how many of them run
#endif
#define LOCKS 2
#ifndef T
#define T 4         // length of the lease
#endif
#ifndef SLIP
#define SLIP 1      // how much a run's clock may lag behind the store's within one lease: rates and steps
#endif
#ifdef NO_MARGIN
#define MARGIN 0
#else
#define MARGIN SLIP
#endif
#define D (T - MARGIN)   // age of the lease at which all processes of the command have ended
#define TERM_AT (D - 1)  // age at which a command gets TERM, and is no longer started
#ifndef O
#define O 1         // limit of a renewal and of a release
#endif
#ifndef W
#define W 1         // window of an acquire
#endif
#ifndef ATTEMPTS
#define ATTEMPTS 1  // claims of one run
#endif
#ifndef FAULTS
#define FAULTS 2    // requests that are delayed or lost, or whose reply is delayed or lost
#endif
#ifndef REVOKES
#define REVOKES 1   // how often a user revokes a lease
#endif
#ifndef LOSS
#define LOSS 1      // how often the store loses data
#endif
#ifndef SAVES
#define SAVES 1     // how often a record is saved; a loss returns it to that, or to nothing
#endif
#ifndef BACK
#define BACK 0      // how often the store's clock steps back by a tick
#endif

// ---- state ----

mtype = { none, free, held, revoked };  // of a record
mtype = { idle, acquiring, pausing, holding, releasing, done, ended };  // phase of a run
mtype = { acquire, renew, release };  // verbs
mtype = { no_reply, granted, busy, stale, closed, kept, not_holder, was_revoked, freed };

typedef Record {
  mtype state = none; byte owner; byte attempt; byte fence;
  short left;     // until the lease ends
  byte answers;   // the claims that were released or lost, one bit each
  byte skipped    // the claims that were answered and counted as busy
};
typedef Request {
  mtype verb; byte attempt; byte fence;
  short left      // until its not_after; 0: too late
};
typedef Run {
  mtype phase = idle; byte lock; byte attempt; byte fence;
  mtype verb;             // in flight, for the run
  mtype reply = no_reply; byte reply_fence;
  byte age; byte slips;   // of the confirmed lease: since its request was sent, by the run's clock
  byte pending; byte pending_slips;  // since the request in flight was sent
  byte window;            // since the first request of an acquire was sent
  bool maybe_granted;
  bool tree;              // a process of the command lives
  bool lost;              // the store answered that the run is not the holder
  bool is_revoked;
  bool unsettled          // the store lost data, and this run's lease was not confirmed since then
};

Record rec[LOCKS];
Record saved[LOCKS];
Request sent[CLIENTS];    // delayed: its sender waits
Request late;             // its sender has stopped waiting; the network may still deliver it
byte late_sender;
Run r[CLIENTS];
byte fences[LOCKS];       // the largest fencing token of all grants
byte faults = FAULTS, revokes = REVOKES, losses = LOSS, saves = SAVES, steps = BACK;
#define is_waiting(c) ((c) == 0)  // on-busy=wait
#define has_loss (losses < LOSS)
#define has_step (steps < BACK)
#define bit_of(c, a) (1 << ((c) * ATTEMPTS + (a)))
#define is_live(l) ((rec[l].state == held || rec[l].state == revoked) && rec[l].left > 0)
#define is_closed(l, c, a) ((rec[l].answers & bit_of(c, a)) != 0)
#define is_skipped(l, c, a) ((rec[l].skipped & bit_of(c, a)) != 0)
#define is_claim(l, c, a) (rec[l].state != none && rec[l].owner == (c) && rec[l].attempt == (a))

#include "properties.pml"
#include "store.pml"
#include "run.pml"
#include "world.pml"

init {
  byte c;
  atomic {
    // The runs are alike, except that run 0 has on-busy=wait: it uses lock 0.
    for (c : 1 .. RUNS - 1) {
      if
      :: r[c].lock = 0
      :: r[c].lock = 1
      fi
    }
    for (c : 0 .. RUNS - 1) {
      run run_of(c)
    }
    c = 0;
    run network();
    run user();
    run data_loss();
    run clock()
  }
}
