// SPDX-License-Identifier: Apache-2.0
// What is asserted. The names begin with the guarantee (docs/guarantees.md).

hidden byte s1_one_tree, s1_after_a_loss, s2_fence_rises, s3_only_the_owner, s4_granted;
hidden byte s5_tree_is_dead, n1_within_the_lease, n3_restored, n4_fence_is_kept;
hidden byte g5_no_grant_after_the_end, g5_too_late_changes_nothing;
hidden byte two_locks_held, taken_over, too_late, revoked_before_the_end, restored;
hidden byte restored_over_older, overlap_after_loss;
hidden byte i, j;

// S1. A run whose lease was granted before the store lost data, and not confirmed since then, does
// not count: A1 is violated.
inline check_trees() {
  for (i : 0 .. CLIENTS - 2) {
    for (j : i + 1 .. CLIENTS - 1) {
      if
      :: r[i].tree && r[j].tree && r[i].lock == r[j].lock ->
         if
         :: has_loss -> s1_after_a_loss = r[i].unsettled || r[j].unsettled; assert(s1_after_a_loss)
         :: else -> s1_one_tree = false; assert(s1_one_tree)
         fi;
#ifdef OVERLAP_AFTER_LOSS
         overlap_after_loss = false;
         assert(overlap_after_loss)
#endif
#ifdef TWO_LOCKS_HELD
      :: r[i].tree && r[j].tree && r[i].lock != r[j].lock ->
         two_locks_held = false;
         assert(two_locks_held)
#endif
      :: else
      fi
    }
  };
  i = 0
}

// The record before a request; check_record() compares.
hidden mtype old_state;
hidden byte old_owner, old_attempt, old_fence;
hidden short old_left;
hidden byte old_live;

inline note_record(l) {
  old_state = rec[l].state; old_owner = rec[l].owner; old_attempt = rec[l].attempt;
  old_fence = rec[l].fence; old_left = rec[l].left; old_live = is_live(l)
}

#define same_claim(c, a) (old_state != none && old_owner == (c) && old_attempt == (a))
#define is_changed(l) (rec[l].state != old_state || rec[l].owner != old_owner || \
                       rec[l].attempt != old_attempt || rec[l].left != old_left)

hidden short time_left;  // until the request is too late

inline check_record(l, c, a) {
  s3_only_the_owner = !(old_live && is_changed(l) && !same_claim(c, a));
  assert(s3_only_the_owner);
  n1_within_the_lease = !(same_claim(c, a) && !old_live && is_live(l) && rec[l].fence == old_fence);
  assert(n1_within_the_lease);
  g5_too_late_changes_nothing = time_left > 0 || !is_changed(l);
  assert(g5_too_late_changes_nothing);
  n4_fence_is_kept = !(old_live && same_claim(c, a) && rec[l].fence != old_fence);
  assert(n4_fence_is_kept)
}

inline check_new_grant(l, c) {
#ifdef TAKEN_OVER
  taken_over = !(old_state == held && r[old_owner].phase == ended);
  assert(taken_over);
#endif
  s2_fence_rises = rec[l].fence > fences[l] || (has_loss && has_step);
  assert(s2_fence_rises);
  fences[l] = (rec[l].fence > fences[l] -> rec[l].fence : fences[l]);
  // G5, AQ4: the run has finished, so that it would not release the lock.
  g5_no_grant_after_the_end = r[c].phase != done || has_loss || has_step;
  assert(g5_no_grant_after_the_end)
}
