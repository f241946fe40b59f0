# SPDX-License-Identifier: Apache-2.0
"""Each rule of the checker finds a history that breaks it, and accepts the nearest history that does not."""
import unittest

import plan as plans
from story import PASSWORD, SECOND, WALL_US, Story

LOSS = {"class": "server", "kind": "empty"}
STEP = {"class": "clock", "kind": "step", "step": 60}
STOP = {"class": "process", "kind": "stop", "contender": "c0"}
CUT = {"class": "network", "kind": "cut", "paths": [0]}


class Checker(unittest.TestCase):
    def expect(self, rules, story):
        self.assertEqual(story.broken(), set(rules))

    def test_a_correct_history(self):
        self.expect([], Story())

    def overlap(self, *faults, **kwargs):
        story = Story(**kwargs)
        story.run("c0", 1, 3.5)
        for begin, until, fault in faults:
            story.fault(begin, until, **fault)
        return story

    def test_s1_overlap(self):
        self.expect(["S1"], self.overlap())
        self.expect(["S1"], self.overlap((1.5, 1.6, CUT)))
        self.expect(["S1"], self.overlap((1.5, 1.5, {**STEP, "step": 0.4}), law="clock"))

    def test_s1_is_excused_for_one_lease_after_a_loss(self):
        for law, fault in (("loses", LOSS), ("forward", STEP)):
            self.expect([], self.overlap((2, 2.5, fault), law=law))
            self.expect(["S1"], self.overlap((0.6, 0.7, fault), law=law))  # both were granted after it
            self.expect(["S1"], self.overlap((3.2, 3.4, fault), law=law))  # they overlapped before it
        # c1 is granted by the new data, before the fault is recorded.
        self.expect([], self.overlap((2, 3.2, {**LOSS, "lost": int(2.1 * SECOND)}), law="loses"))
        story = self.overlap((2, 2.5, LOSS), law="loses")
        story.run("c0", 1, 9)
        story.run("c1", 3, 9)
        self.expect(["S1"], story)

    def test_s1_of_a_stopped_tree(self):
        story = Story()
        story.run("c0", 1, 2, ended=4.1)
        story.fault(2.1, 3.9, **STOP, who="tree")
        story.life += [(3.5, "alive", "c0", "-"), (3.95, "beat", "c0", "-")]
        self.expect([], story)
        story.life += [(5, "beat", "c0", "-")]
        story.run("c1", 3, 6)
        self.assertIn("S1", story.broken())

    def test_s1_of_a_stopped_wrapper(self):
        for kind, broken in (("plain", ["S1"]), ("user", ["S1"]), ("first", [])):
            story = Story(guardian=True)
            story.run("c0", 1, 3.5, ended=4.1, kind=kind)
            story.fault(1.5, 3.9, **STOP, who="wrapper")
            self.expect(broken, story)

    def test_s2_fence(self):
        story = Story()
        story.run("c1", 3, 4, fence=WALL_US)
        self.expect(["S2"], story)
        story.run("c1", 3, 4, fence=WALL_US + 1_000_000)
        self.assertIn("S2", story.broken())
        story.run("c1", 3, 4, fence="none")
        self.assertIn("S2", story.broken())

    def test_s4_start(self):
        story = Story()
        story.stats["runs_succeeded|a"] = "1"
        story.run("c1", 3, 4, code=75, on_busy="fail", outcome={"outcome": "busy"})
        self.expect(["S4"], story)
        story = Story()
        story.life += [(3.5, "start", "c1", WALL_US + 3_000_000)]
        self.expect(["S4"], story)

    def test_s5_orphan(self):
        story = Story()
        story.run("c1", 3, 4, ended=3.9)
        self.expect(["S5"], story)
        story = Story()
        story.run("c1", 3, 4.3, ended=4, code=-9)
        story.kill("c1", 4)
        self.expect([], story)
        story.life += [(4.6, "beat", "c1", "-")]
        self.expect(["S5"], story)

    def test_l0_min_hold(self):
        story = Story()
        story.run("c0", 1, 2, min_hold=1.9)
        self.expect([], story)
        story.run("c0", 1, 2, min_hold=2.5)
        self.expect(["L0"], story)
        story.run("c0", 1, 2, min_hold=2.5, group="g")
        story.run("c1", 3, 4, group="g")
        self.expect([], story)

    def crash(self, start, **plan):
        story = Story()
        story.run("c0", 1, 2, code=-9, ended=2)
        story.kill("c0", 2)
        story.run("c1", start, start + 1, **plan)
        return story

    def test_l2_gap(self):
        self.expect([], self.crash(8.2))
        self.expect(["L2"], self.crash(8.5))
        self.expect([], self.crash(8.5, on_busy="skip"))
        story = self.crash(8.5)
        story.fault(4, 4.1, **CUT)
        self.expect([], story)

    def test_exit_code(self):
        for code, outcome, plan, is_right in (
                (3, {}, {}, False), (0, {"lock": "other"}, {}, False), (0, {"exit_code": 1}, {}, False),
                (79, {"outcome": "lost"}, {}, False), (124, {"outcome": "timed_out"}, {}, False),
                (124, {"outcome": "timed_out"}, {"max_run": 1}, True), (70, {"outcome": "?"}, {}, False)):
            story = Story()
            story.stats["runs_succeeded|a"] = "1"
            story.run("c1", 3, 4, code=code, outcome=outcome, **plan)
            self.expect([] if is_right else ["exit code"], story)

    def test_exit_code_of_a_run_that_starts_nothing(self):
        for code, kind, plan, fault, is_right in (
                (69, "store_down", {}, None, False), (69, "store_down", {}, CUT, True), (75, "store_down", {}, CUT, False),
                (77, "refused", {}, CUT, False), (77, "refused", {}, {"class": "server", "kind": "foreign"}, True),
                (75, "busy", {}, None, False), (75, "busy", {"wait_timeout": 1}, None, True),
                (0, "skipped", {}, None, False), (0, "skipped", {"on_busy": "skip"}, None, True),
                (143, "interrupted", {}, None, False)):
            story = Story()
            story.stats["runs_skipped|a"] = str(int(kind == "skipped"))
            story.run("c2", None, None, began=1, ended=2, code=code, outcome={"outcome": kind, "reason": "held"}, **plan)
            if fault:
                story.fault(1, 1.5, **fault)
            self.expect([] if is_right else ["exit code"], story)

    def test_stuck(self):
        story = Story()
        story.event(59, "stuck", contender="c1")
        self.expect(["stuck"], story)

    def test_l5_group(self):
        story = Story()
        story.stats["runs_skipped|a"] = "1"
        story.run("c0", 1, 2, group="g")
        skipped = {"outcome": "skipped", "reason": "held"}
        story.run("c2", None, None, began=3, ended=3.1, group="other", on_busy="skip", outcome=skipped)
        self.expect([], story)
        story.run("c2", None, None, began=3, ended=3.1, group="g", on_busy="skip", outcome=skipped)
        self.expect(["L5"], story)

    def test_k3_once(self):
        story = Story()
        story.run("c0", 1, 2, once="tick")
        story.run("c1", 3, 4, once="other")
        self.expect([], story)
        story.run("c1", 3, 4, once="tick")
        self.expect(["K3"], story)

    def test_c1_sum(self):
        story = Story()
        story.stats["released|a"] = "1"
        self.expect(["C1"], story)
        story.stats["stolen|a"] = "1"
        self.expect([], story)

    def test_c2_counts(self):
        for stats in ({"acquired|a": "1", "released|a": "1"}, {"runs_skipped|a": "1"}, {"runs_succeeded|a": "3"}):
            story = Story()
            story.stats.update(stats)
            self.expect(["C2"], story)

    def test_c2_counts_an_interrupted_run_at_most_once(self):
        for skipped, found in (("0", []), ("1", []), ("2", ["C2"])):
            story = Story()
            story.run("c2", None, None, began=1, ended=2, code=143, outcome={"outcome": "interrupted", "reason": "signal"})
            story.fault(1, 1.5, **{"class": "process", "kind": "term", "who": "wrapper", "contender": "c2"})
            story.stats["runs_skipped|a"] = skipped
            self.expect(found, story)

    def test_secret(self):
        story = Story()
        story.files["out/c0.log"] = f"password {PASSWORD}"
        self.expect(["secret"], story)
        story = Story()
        story.life += [(1.5, "secret", "c0", "-")]
        self.expect(["secret"], story)

    def test_a_stalled_host(self):
        story = self.overlap()
        story.host.append((2, 2.6))
        self.expect([], story)
        self.assertEqual(story.word, "not judged")
        story.stats["released|a"] = "1"  # this rule does not depend on time
        self.expect(["C1"], story)
        story.host = [(2, 2.4)]
        self.expect(["S1", "C1"], story)


class Plan(unittest.TestCase):
    def test_the_same_seed_gives_the_same_plan(self):
        self.assertEqual(plans.make(7), plans.make(7))
        self.assertNotEqual(plans.make(7), plans.make(8))

    def test_nothing_is_planned_that_needs_a_guardian(self):
        for seed in range(300):
            for fault in plans.make(seed)["faults"]:
                if not plans.GUARDIAN and fault["kind"] == "stop" and fault["who"] == "wrapper":
                    self.assertLess(fault["seconds"], plans.SHORT_STOP)


if __name__ == "__main__":
    unittest.main()
