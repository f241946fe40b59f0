// SPDX-License-Identifier: Apache-2.0
// The store: one atomic step per request, as the scripts in src/store/redis/scripts.

#ifdef NO_OWNER_CHECK
#define owns(l, c, a) (rec[l].state != none)
#else
#define owns(l, c, a) is_claim(l, c, a)
#endif
#define is_held_by(l, c, a) (is_claim(l, c, a) && rec[l].state == held && rec[l].left > 0)

// AQ4: this claim was released, lost, or followed by a later attempt.
#ifdef CLOSED_CLAIM_GRANTED
#define is_final(l, c, a) false
#else
#define is_final(l, c, a) (is_closed(l, c, a) || \
  (rec[l].state != none && rec[l].owner == (c) && (a) < rec[l].attempt) || \
  (is_claim(l, c, a) && !is_held_by(l, c, a)))
#endif
#ifdef GRANT_BEFORE_EXPIRY
#define is_grantable(l) (rec[l].left <= 1)
#else
#define is_grantable(l) (!is_live(l))
#endif

// AQ2. A microsecond clock is ahead of each earlier fencing token, unless it has stepped back.
#define time_as_fence(l) (has_step -> 0 : fences[l] + 1)
#if defined(FENCE_NOT_RAISED)
#define next_fence(l) time_as_fence(l)
#elif defined(FENCE_WITHOUT_TIME)
#define next_fence(l) (rec[l].fence + 1)
#else
#define next_fence(l) (rec[l].fence + 1 > time_as_fence(l) -> rec[l].fence + 1 : time_as_fence(l))
#endif

hidden mtype answer;
hidden byte next, at;

inline close_predecessor(l) {
  if
  :: rec[l].state == held || rec[l].state == revoked ->
     rec[l].answers = rec[l].answers | bit_of(rec[l].owner, rec[l].attempt)
  :: else
  fi
}

inline set_holder(l, c, a, fence_) {
  rec[l].state = held; rec[l].owner = c; rec[l].attempt = a; rec[l].fence = fence_; rec[l].left = T
}

#define can_answer(l, c, a) (!is_skipped(l, c, a) && !is_final(l, c, a))

inline do_acquire(l, c, a) {
  if
  :: is_skipped(l, c, a) -> answer = busy  // C2
  :: !is_skipped(l, c, a) && is_final(l, c, a) -> answer = closed
  :: can_answer(l, c, a) && is_held_by(l, c, a) ->
     rec[l].left = T; answer = granted; r[c].unsettled = false
  :: can_answer(l, c, a) && !is_held_by(l, c, a) && is_grantable(l) ->
     next = next_fence(l);
     close_predecessor(l);
     set_holder(l, c, a, next);
     answer = granted;
     check_new_grant(l, c);
     r[c].unsettled = false
  :: else ->
     answer = busy;
#ifndef SKIP_NOT_RECORDED
     if
     :: !is_waiting(c) -> rec[l].skipped = rec[l].skipped | bit_of(c, a)
     :: else
     fi
#endif
  fi
}

#ifdef RESTORE_OVER_LIVE_LEASE
#define is_restorable(l, fence_) (rec[l].fence < fence_)
#else
#define is_restorable(l, fence_) (rec[l].fence < fence_ && !is_live(l))
#endif

inline do_restore(l, c, a, fence_) {
#ifdef NO_RESTORE
  answer = not_holder;
#else
  if
  :: is_closed(l, c, a) -> answer = not_holder
  :: else ->
     close_predecessor(l);
     set_holder(l, c, a, fence_);
     answer = kept
  fi;
#endif
#ifdef RESTORED
  restored = answer != kept;
  assert(restored);
#endif
#ifdef RESTORED_OVER_OLDER
  restored_over_older = answer != kept || old_state == none;
  assert(restored_over_older);
#endif
  n3_restored = answer == kept || !r[c].tree || r[c].lost || is_closed(l, c, a);
  assert(n3_restored)
}

inline do_renew(l, c, a, fence_) {
  if
  :: rec[l].state == none -> do_restore(l, c, a, fence_)
  :: rec[l].state != none && !owns(l, c, a) ->
     if
     :: is_restorable(l, fence_) -> do_restore(l, c, a, fence_)
     :: else -> answer = not_holder
     fi
  :: owns(l, c, a) && rec[l].state == revoked -> answer = was_revoked
  :: owns(l, c, a) && rec[l].state == free -> answer = not_holder
  :: owns(l, c, a) && rec[l].state == held ->
     if
#ifndef RENEW_AFTER_EXPIRY
     :: rec[l].left <= 0 -> answer = not_holder
#endif
     :: else -> rec[l].left = T; answer = kept
     fi
  fi;
  if
  :: answer == kept -> r[c].unsettled = false; check_trees()
  :: else
  fi
}

inline do_release(l, c, a) {
  if
  :: owns(l, c, a) && (rec[l].state == held || rec[l].state == revoked) ->
     s5_tree_is_dead = !r[c].tree;
     assert(s5_tree_is_dead);
     rec[l].state = free; rec[l].left = 0;
#ifdef RELEASE_OF_BOTH_LOCKS
     rec[1 - l].state = (rec[1 - l].state == held -> free : rec[1 - l].state); rec[1 - l].left = 0;
#endif
     answer = freed
  :: else -> answer = not_holder
  fi;
  // A delayed acquire of this claim must not be granted: no run would follow.
  rec[l].answers = rec[l].answers | bit_of(c, a)
}

#define clear(q) q.verb = 0; q.attempt = 0; q.fence = 0; q.left = 0

hidden mtype verb;
hidden byte attempt, fence;

inline execute(c) {
  at = r[c].lock;
  note_record(at);
  if
#ifndef LATE_REQUEST_ACCEPTED
  :: time_left <= 0 ->  // G5
     answer = stale;
#ifdef TOO_LATE
     too_late = false;
     assert(too_late);
#endif
  :: time_left > 0 && verb == acquire -> do_acquire(at, c, attempt)
  :: time_left > 0 && verb == renew -> do_renew(at, c, attempt, fence)
  :: time_left > 0 && verb == release -> do_release(at, c, attempt)
#else
  :: verb == acquire -> do_acquire(at, c, attempt)
  :: verb == renew -> do_renew(at, c, attempt, fence)
  :: verb == release -> do_release(at, c, attempt)
#endif
  fi;
  check_record(at, c, attempt)
}

#define take(q) verb = q.verb; attempt = q.attempt; fence = q.fence; time_left = q.left; clear(q)
