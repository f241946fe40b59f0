// SPDX-License-Identifier: Apache-2.0
// `cronlatch run` (the state machine in src/core), and the network between it and the store.

// The limit becomes not_after, by the store's clock (Session::server_time).
#define send_request(c, v, limit) \
  r[c].verb = v; sent[c].verb = v; sent[c].attempt = r[c].attempt; sent[c].left = limit; \
  sent[c].fence = (v == renew -> r[c].fence : 0)

inline forget(c) {
  r[c].verb = 0; r[c].reply = no_reply; r[c].reply_fence = 0;
  r[c].pending = 0; r[c].pending_slips = 0
}

// The run stops waiting. The network may still deliver the request.
inline abandon(c) {
  if
  :: sent[c].verb != 0 ->
     late.verb = sent[c].verb; late.attempt = sent[c].attempt; late.fence = sent[c].fence;
     late.left = sent[c].left; late_sender = c;
     clear(sent[c])
  :: else
  fi;
  forget(c)
}

inline end_lease(c) {
  r[c].tree = false; r[c].age = 0; r[c].slips = 0; r[c].unsettled = false; r[c].window = 0
}

inline finish(c, how) {
  end_lease(c);
  r[c].phase = how; r[c].attempt = 0; r[c].fence = 0; r[c].maybe_granted = false;
  r[c].lost = false; r[c].is_revoked = false
}

inline confirm_lease(c) {
#ifdef LEASE_FROM_REPLY
  r[c].age = 0; r[c].slips = 0;
#else
  r[c].age = r[c].pending; r[c].slips = r[c].pending_slips;
#endif
  forget(c)
}

inline launch(c) {
  r[c].phase = holding; r[c].window = 0; r[c].maybe_granted = false; r[c].tree = true;
  s4_granted = r[c].fence != 0;
  assert(s4_granted);
  check_trees()
}

inline release_or_finish(c) {
  if
  :: r[c].maybe_granted -> end_lease(c); r[c].phase = releasing; r[c].maybe_granted = false
  :: else -> finish(c, done)
  fi
}

#ifdef START_AFTER_LATE_GRANT
#define is_too_late_to_start(c) false
#else
#define is_too_late_to_start(c) (r[c].pending >= TERM_AT)
#endif

inline on_acquire_reply(c) {
  if
  :: r[c].reply == granted && is_too_late_to_start(c) -> forget(c); r[c].maybe_granted = true
  :: r[c].reply == granted && !is_too_late_to_start(c) ->
     r[c].fence = r[c].reply_fence;
     confirm_lease(c);
     launch(c)
  :: r[c].reply == busy && is_waiting(c) ->
     forget(c);
#ifdef BUSY_IS_CERTAIN
     r[c].maybe_granted = false;
#endif
     r[c].phase = pausing; r[c].window = 0
  :: r[c].reply == busy && !is_waiting(c) -> forget(c); finish(c, done)
  :: r[c].reply == stale -> forget(c)
  :: r[c].reply == closed && r[c].attempt + 1 < ATTEMPTS ->
     forget(c); r[c].attempt++; r[c].maybe_granted = false
  :: r[c].reply == closed && r[c].attempt + 1 >= ATTEMPTS -> forget(c); finish(c, done)
  fi
}

inline on_renew_reply(c) {
  if
  :: r[c].reply == kept && r[c].tree -> confirm_lease(c)
  :: r[c].reply == not_holder || r[c].reply == was_revoked ->
     r[c].lost = r[c].tree; r[c].is_revoked = r[c].tree && r[c].reply == was_revoked;
     forget(c)
  :: r[c].reply == stale || (r[c].reply == kept && !r[c].tree) -> forget(c)
  fi
}

inline on_release_reply(c) {
  if
  :: r[c].reply == stale -> forget(c)
  :: else -> forget(c); finish(c, done)
  fi
}

inline on_reply(c) {
  if
  :: r[c].verb == acquire -> on_acquire_reply(c)
  :: r[c].verb == renew -> on_renew_reply(c)
  :: r[c].verb == release -> on_release_reply(c)
  fi
}

inline deliver(c) {
  take(sent[c]);
  execute(c);
  r[c].reply = answer;
  r[c].reply_fence = (answer == granted -> rec[r[c].lock].fence : 0)
}

inline on_unknown(c) {
  if
  :: r[c].verb == acquire ->
     abandon(c);
#ifdef START_ON_UNKNOWN
     launch(c)
#else
     r[c].maybe_granted = true
#endif
  :: else -> abandon(c)
  fi
}

#define can_acquire(c) (r[c].verb == 0 && r[c].window < W && \
  (r[c].phase == idle || r[c].phase == pausing || r[c].phase == acquiring))
#define can_renew(c) (r[c].verb == 0 && r[c].tree && !r[c].lost && r[c].age >= 1 && r[c].age < D)
#define renew_limit(c) (D - r[c].age < O -> D - r[c].age : O)
#ifdef RELEASE_BEFORE_TREE_DEAD
#define can_release(c) (r[c].verb == 0 && (r[c].phase == releasing || r[c].tree))
#else
#define can_release(c) (r[c].verb == 0 && r[c].phase == releasing)
#endif

proctype run_of(byte c) {
end:
  do
  // A request that is executed and answered at once, or one that is delayed.
  :: d_step { can_acquire(c) -> r[c].phase = acquiring; send_request(c, acquire, W - r[c].window);
       deliver(c); on_reply(c) }
  :: d_step { can_acquire(c) && faults > 0 -> faults--; r[c].phase = acquiring;
       send_request(c, acquire, W - r[c].window) }
  :: d_step { can_renew(c) -> send_request(c, renew, renew_limit(c)); deliver(c); on_reply(c) }
  :: d_step { can_renew(c) && faults > 0 -> faults--; send_request(c, renew, renew_limit(c)) }
  :: d_step { can_release(c) -> send_request(c, release, O); deliver(c); on_reply(c) }
  :: d_step { can_release(c) && faults > 0 -> faults--; send_request(c, release, O) }
  :: d_step { r[c].reply != no_reply -> on_reply(c) }
  // A time limit, a reset connection: the result is unknown, and a request follows on a new connection.
  :: d_step { r[c].verb != 0 -> on_unknown(c) }
  :: d_step { r[c].verb == release && r[c].phase == releasing -> abandon(c); finish(c, ended) }
  // A signal before the start, or the end of the window.
  :: d_step { r[c].verb == 0 && (r[c].phase == acquiring || r[c].phase == pausing) ->
       release_or_finish(c) }
  // All processes of the command have ended: by themselves, or after TERM or KILL.
  :: d_step { r[c].tree ->
#ifdef REVOKED_BEFORE_THE_END
       revoked_before_the_end = !r[c].is_revoked;
       assert(revoked_before_the_end);
#endif
       end_lease(c);
       r[c].phase = releasing; r[c].lost = false; r[c].is_revoked = false }
  // SIGKILL of the wrapper as the first process of a container, or failure of the node.
  :: d_step { r[c].phase == acquiring || r[c].phase == holding || r[c].phase == releasing ->
       abandon(c); finish(c, ended) }
  od
}

proctype network() {
end:
  do
  :: d_step { sent[0].verb != 0 -> deliver(0) }
  :: d_step { sent[1].verb != 0 -> deliver(1) }
  :: d_step { sent[2].verb != 0 -> deliver(2) }
  // Its reply is lost: the run waits for an answer on another connection.
  :: d_step { late.verb != 0 -> take(late); execute(late_sender); late_sender = 0 }
  od
}
