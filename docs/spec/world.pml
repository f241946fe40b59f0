// SPDX-License-Identifier: Apache-2.0
// The user who revokes, the store that loses data, and the clocks.

#define can_revoke(l) (revokes > 0 && rec[l].state == held && rec[l].left > 0)

inline do_revoke(l) {
  revokes--;
#ifdef REVOKE_FREES_LOCK
  rec[l].state = free; rec[l].left = 0
#else
  rec[l].state = revoked
#endif
}

proctype user() {
end:
  do
  :: d_step { can_revoke(0) -> do_revoke(0) }
  :: d_step { can_revoke(1) -> do_revoke(1) }
  od
}

#define copy(to, from) to.state = from.state; to.owner = from.owner; to.attempt = from.attempt; \
  to.fence = from.fence; to.left = from.left; to.answers = from.answers; \
  to.skipped = from.skipped

// The record returns to the saved one, or to none: a restart without persistence, a failover to a
// replica that lags, `appendfsync everysec`.
hidden byte k;

inline lose_data(lk) {
  losses--;
  copy(rec[lk], saved[lk]);
  for (k : 0 .. CLIENTS - 1) {
    r[k].unsettled = (r[k].unsettled ||
      (r[k].lock == lk && (r[k].phase == acquiring || r[k].phase == holding)))
  };
  k = 0
}

inline save(lk) {
  saves--;
  copy(saved[lk], rec[lk])
}

// ---- the clocks ----

// A3: what is due happens before time passes.
#define is_due(c) ((r[c].verb == acquire && r[c].window >= W) || \
  (r[c].phase == acquiring && r[c].verb == 0 && r[c].window >= W) || \
  ((r[c].verb == renew || r[c].verb == release) && r[c].pending >= O) || \
  (r[c].phase == releasing && r[c].verb == 0) || must_be_killed(c))
#ifdef NO_KILL_OF_LOST_LEASE
#define must_be_killed(c) false
#else
#define must_be_killed(c) (r[c].tree && r[c].lost && !r[c].is_revoked)
#endif
#ifdef NO_KILL_AT_DEADLINE
#define must_have_ended(c) false
#else
#define must_have_ended(c) (r[c].tree && r[c].age + 1 >= D)
#endif
#define is_timed(c) (r[c].tree || r[c].verb == acquire)
#define may_slip(c) (is_timed(c) && (!r[c].tree || r[c].slips < SLIP) && \
                     (r[c].verb == 0 || r[c].pending_slips < SLIP))
#define can_pass(c, slips_) (!is_due(c) && (slips_ -> may_slip(c) : !must_have_ended(c)))

inline pass(c, slips_) {
  if
  :: slips_ && r[c].tree -> r[c].slips++
  :: !slips_ && r[c].tree && r[c].age < T + 1 -> r[c].age++
  :: else
  fi;
  if
  :: slips_ && r[c].verb != 0 -> r[c].pending_slips++
  :: !slips_ && r[c].verb != 0 -> r[c].pending++
  :: else
  fi;
  if
  :: !slips_ && r[c].phase == acquiring -> r[c].window++
  :: else
  fi;
  // After this time the command of a lost lease does not run beside another one.
  if
  :: r[c].lost && !r[c].is_revoked -> r[c].unsettled = false
  :: else
  fi
}

inline pass_requests() {
  for (k : 0 .. CLIENTS - 1) {
    sent[k].left = (sent[k].left > 0 -> sent[k].left - 1 : 0)
  };
  late.left = (late.left > 0 -> late.left - 1 : 0);
#ifndef LATE_REQUEST_ACCEPTED
  if
  :: late.left == 0 && steps == 0 -> clear(late); late_sender = 0  // it would be answered STALE
  :: else
  fi;
#endif
  k = 0
}

#define pass_record(q) q.left = (q.left > LEAST -> q.left - 1 : q.left)
#define LEAST (0 - BACK)

inline tick(a, b, c) {
  pass(0, a); pass(1, b); pass(2, c);
  pass_requests();
  pass_record(rec[0]); pass_record(rec[1]); pass_record(saved[0]); pass_record(saved[1]);
  check_trees()
}

// L7: a lease never lasts longer than T from now.
#define back_record(q) \
  q.left = (q.left < T && (q.state == held || q.state == revoked) -> q.left + 1 : q.left)

inline step_back() {
  steps--;
  back_record(rec[0]); back_record(rec[1]); back_record(saved[0]); back_record(saved[1]);
  for (k : 0 .. CLIENTS - 1) {
    sent[k].left = (sent[k].verb != 0 -> sent[k].left + 1 : 0)
  };
  late.left = (late.verb != 0 -> late.left + 1 : 0);
  k = 0
}

proctype data_loss() {
end:
  do
  :: d_step { losses > 0 && rec[0].state != none -> lose_data(0) }
  :: d_step { losses > 0 && rec[1].state != none -> lose_data(1) }
  :: d_step { saves > 0 && losses > 0 && rec[0].state != none -> save(0) }
  :: d_step { saves > 0 && losses > 0 && rec[1].state != none -> save(1) }
  :: d_step { steps > 0 -> step_back() }
  od
}

#define passes(a, b, c) (can_pass(0, a) && can_pass(1, b) && can_pass(2, c))

// Not an end state: a state in which no time can pass and nothing happens is an error.
proctype clock() {
  do
  :: d_step { passes(false, false, false) -> tick(false, false, false) }
  :: d_step { passes(true, false, false) -> tick(true, false, false) }
  :: d_step { passes(false, true, false) -> tick(false, true, false) }
  :: d_step { passes(false, false, true) -> tick(false, false, true) }
  :: d_step { passes(true, true, false) -> tick(true, true, false) }
  :: d_step { passes(true, false, true) -> tick(true, false, true) }
  :: d_step { passes(false, true, true) -> tick(false, true, true) }
  :: d_step { passes(true, true, true) -> tick(true, true, true) }
  od
}
