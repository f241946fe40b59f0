// SPDX-License-Identifier: Apache-2.0
// Defects for the negative controls: each is a fault that a change of the product could introduce,
// and the checker must find it. Most of them were faults of an earlier version.
#pragma once

namespace cronlatch::model {

enum class Defect {
  none,
  // of the run (tested_run.cc)
  no_margin,            // the lease has no safety margin
  dated_at_reply,       // the lease starts at the answer, not at the request
  ignores_loss,         // the run continues after NotHolder
  ignores_leftovers,    // the lock is released over living background processes
  swallows_term,        // TERM is not forwarded while background processes linger
  max_run_never_kills,  // max-run sends no KILL with on-lost=term
  kills_with_term,      // on-lost=term sends KILL
  lost_exits_zero,      // a lease lost while background processes are killed: the child's code
  window_from_begin,    // answers do not start a new window
  second_window,        // the last retry has a window of its own
  skips_after_wait,     // a retry of a group exits with 0 when its wait has timed out
  mark_given_up,        // the done mark is retried for 5 s only, and its absence is not reported
  marks_failure,        // a failed run marks its identity as done
  tls_ends_waiting,     // on-store-down=wait does not wait for a valid certificate
  no_kill_time,         // the guardian does not know when the lease ends
  credentials_once,     // the password is read at the start only
  // of the store (server_defects.cc)
  executes_late,           // requests that were given up are executed
  releases_any_owner,      // the release does not check the owner
  renews_any_owner,        // the renewal does not check the owner
  older_record_taken,      // an older record answers taken to the holder of a newer grant
  forgets_group_in_reply,  // a repeated answer does not contain that the group was granted
  forgets_ungated_group,   // the report of a run without a lock does not record its group
  no_clamp,                // a backward step of the clock extends a lease
  no_min_hold_of_crash,    // the min-hold ends with the lease of a crashed run
  revoke_keeps_min_hold,   // a revocation does not end a min-hold
  grants_done,             // a done identity is granted again
  releases_done_grant,     // a late copy of its request releases a grant whose identity is done
  no_queue,                // a free lock is granted to the first request
  endless_reservation,     // a reservation does not end
  any_waiter_first,        // the run that asks is granted a free lock before those that wait longer
  one_holder_too_many,     // with several slots, a live lease is not counted
  identity_in_two_slots,   // with several slots, the identity of a live lease is granted again
  fence_of_slot,           // with several slots, a fence is above that of its own slot only
  // of the guardian (process_tree.cc)
  guardian_ignores_death,
  guardian_ignores_stop,
  guardian_kills_main_only,
};

}  // namespace cronlatch::model
