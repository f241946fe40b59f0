#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command `./dev chaos`. scripts/chaos.sh builds the programs and calls it. `chaos.py --help` has the options.

Exit code: 0 every judged run kept every guarantee; 1 a violation, or more than a quarter of the runs were not judged."""
import argparse
import asyncio
import collections
import os
import pathlib
import random
import shutil
import signal
import sys
import time

import checker
import stage as stages

HERE = pathlib.Path(__file__).parent
RUN_LIMIT = 300  # seconds
NOT_JUDGED_AT_MOST = 0.25


class Campaign:
    def __init__(self, options, stage):
        self.options = options
        self.stage = stage
        self.counts = collections.Counter()
        self.faults = collections.Counter()
        self.overlaps = 0
        self.seeds = []
        self.begin = time.monotonic()

    def may_start(self):
        if self.options.seed is not None or self.options.runs:
            return len(self.seeds) < (self.options.runs or 1)
        return time.monotonic() - self.begin < self.options.minutes * 60

    def next_seed(self):
        first = self.options.seed if self.options.seed is not None else self.options.first
        self.seeds.append(first + len(self.seeds))
        return self.seeds[-1]

    async def worker(self, number):
        while self.may_start():
            # The first two workers always work.
            if number >= 2 and stages.is_busy():
                await asyncio.sleep(1)
                continue
            await self.one(self.next_seed())

    async def one(self, seed):
        folder = self.stage / str(seed)
        folder.mkdir()
        folder.chmod(0o755)
        begin = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            "setpriv", "--pdeathsig", "TERM", sys.executable, "-B", str(HERE / "run.py"), str(seed), str(self.stage),
            str(folder), stderr=asyncio.subprocess.PIPE)
        try:
            _, error = await asyncio.wait_for(process.communicate(), RUN_LIMIT)
        except asyncio.TimeoutError:
            error = b"it did not end"
        finally:
            if process.returncode is None:
                process.terminate()
                await process.wait()
        if process.returncode != 0:
            self.counts["broken"] += 1
            self.say(f"BROKEN     seed {seed}: the run itself failed\n{error.decode()}")
            return self.keep(seed, folder)
        self.judge(seed, folder, time.monotonic() - begin)

    def judge(self, seed, folder, length):
        verdict = checker.judge(folder)
        history = verdict.history
        self.counts[verdict.word] += 1
        self.overlaps += sum(1 for violation in verdict.violations if violation[0] == "S1")
        for fault in history.faults:
            self.faults[f"{fault['class']}: {fault['kind']} {fault.get('who', '')}".strip()] += 1
        why = f": {verdict.not_judged}" if verdict.not_judged else ""
        self.say(f"{verdict.word:10} seed {seed} (law {history.law}): {len(history.contenders)} contenders, "
                 f"{len(history.ran)} commands, {len(history.faults)} faults, {length:.0f} s{why}")
        if verdict.violations:
            history.folder = self.keep(seed, folder)
            self.say("\n".join(verdict.report()))
        elif not self.options.keep:
            shutil.rmtree(folder)

    def keep(self, seed, folder):
        target = self.options.results / str(seed)
        shutil.rmtree(target, ignore_errors=True)
        # The socket of the store cannot be copied.
        shutil.copytree(folder, target, ignore=shutil.ignore_patterns("socket"))
        shutil.rmtree(folder)
        return target

    @staticmethod
    def say(text):
        print(text, flush=True)

    def summary(self):
        runs = sum(self.counts.values())
        self.say(f"\nfaults: {sum(self.faults.values())}")
        for name, count in sorted(self.faults.items()):
            self.say(f"  {count:5} {name}")
        ranges = f"{self.seeds[0]} to {self.seeds[-1]}" if self.seeds else "none"
        self.say(f"{runs} runs, seeds {ranges}: {self.counts['ok']} ok, {self.counts['VIOLATION']} with violations, "
                 f"{self.counts['not judged']} not judged, {self.counts['broken']} broken, {self.overlaps} overlaps")
        if self.counts["VIOLATION"] or self.counts["broken"] or not runs:
            return 1
        if self.counts["not judged"] > NOT_JUDGED_AT_MOST * runs:
            self.say("more than a quarter of the runs were not judged: this host is too slow for a statement")
            return 1
        return 0


def parse():
    parser = argparse.ArgumentParser(prog="./dev chaos", description="runs real programs under random faults")
    parser.add_argument("minutes", nargs="?", type=float, default=1, help="start runs for this long (default 1)")
    parser.add_argument("--seed", type=int, help="only this plan (with --runs N: this one and the following)")
    parser.add_argument("--runs", type=int, help="this number of runs instead of a time")
    parser.add_argument("--parallel", type=int, default=3 * len(os.sched_getaffinity(0)), help="runs at the same time")
    parser.add_argument("--check", nargs="+", metavar="DIR", help="only judge histories")
    parser.add_argument("--keep", action="store_true", help="keep every history")
    parser.add_argument("--wrapper", type=pathlib.Path, help="another program than build/release/cronlatch")
    parser.add_argument("--programs", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--results", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.first = random.SystemRandom().randrange(1, 1_000_000_000)
    return options


async def perform(options, stage):
    campaign = Campaign(options, stage)
    this = asyncio.current_task()
    for signo in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(signo, this.cancel)
    missing = stages.missing_rights()
    if missing:
        campaign.say(f"not permitted here: contenders of the kinds {', '.join(missing)}; they run as `plain`")
        os.environ["CHAOS_MISSING"] = " ".join(missing)
    try:
        await asyncio.gather(*(campaign.worker(number) for number in range(options.parallel)))
    finally:
        status = campaign.summary()
    return status


def main():
    options = parse()
    if options.check:
        return checker.main(options.check)
    stage = stages.make(options.wrapper, options.programs)
    try:
        return asyncio.run(perform(options, stage))
    except asyncio.CancelledError:
        return 130
    finally:
        if options.keep:
            print(f"histories: {stage}")
        else:
            stages.remove(stage)


if __name__ == "__main__":
    sys.exit(main())
