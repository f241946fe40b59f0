#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lifetimes.py [FOLDER]: how long data is kept is the same in the documentation and in the code.

Each row has a page, a sentence of it with a number, and the constant from which the number is calculated. A sentence that
is not on its page is an error: change the row together with the page. FOLDER contains changed copies of pages, for
scripts/lint/control.sh.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MS_PER_DAY, US_PER_DAY = 86400000, 86400000000

READ = "src/store/redis/scripts/common_read.lua"
INDEX = "src/store/redis/scripts/index.lua"
CODEC = "src/store/redis/script_codec.h"
RULES = "src/store/rules.h"
ROWS = "src/store/postgres/schema/rows.sql"
PASSWORDS = "src/operator/store_server/passwords.h"

KEPT = (READ, r"KEEP_MS = '(\d+)'", MS_PER_DAY)
INDEXED = (CODEC, r"kIndexMemory = std::chrono::hours\(24 \* (\d+)\)", 1)
INDEX_BATCH = (INDEX, r"'LIMIT', '0', '(\d+)'", 1)
GROUPS_AHEAD = (RULES, r"kGroupAhead = std::chrono::hours\((\d+) \* 24\)", 1)
GROUP_HOURS = (RULES, r"kGroupMemory = std::chrono::hours\((\d+)\)", 1)
GROUPS = (RULES, r"kMaxGroups = ([\d']+);", 1)
MARKS = (RULES, r"kMaxOnceMarks = (\d+);", 1)
ROW_DAYS = (ROWS, r"used_day < v_day - (\d+)", 1)
ROW_MARKS = (ROWS, r"d\.finished > p_now - (\d+)", US_PER_DAY)
ROW_BATCH = (ROWS, r"ORDER BY o\.used_day LIMIT (\d+)", 1)
PASSWORD = (PASSWORDS, r"kPasswordLife\{(\d+)LL \* 86'400\}", 1)

SENTENCES = [
    ("docs/guarantees.md", "They expire {} days after the last use otherwise.", KEPT),
    ("docs/operations.md", "expire {} days after their last use. They do not expire while a grant is open.", KEPT),
    ("docs/operations.md", "| {} days after the last grant, renewal, release,", KEPT),
    ("docs/operations.md", "Never while a grant is open:", KEPT),
    ("docs/migrating/redis-semaphore.md", "the statistics are kept for {} days", KEPT),
    ("docs/operations.md", "names that were not entered for {} days", INDEXED),
    ("docs/operations.md", "deletes up to {} names", INDEX_BATCH),
    ("docs/guarantees.md", "keeps a group for {} hours after a success", GROUP_HOURS),
    ("docs/guarantees.md", "A lock keeps the newest {} groups", GROUPS),
    ("docs/operations.md", "the newest {} of each job are kept", MARKS),
    ("docs/reference/options.md", "at most the newest {} of each job", MARKS),
    ("docs/postgres.md", "A lock without a change for {} days is deleted, unless it has an open grant,", ROW_DAYS),
    ("docs/postgres.md", "that finished in the last {} days", ROW_MARKS),
    ("docs/postgres.md", "One request deletes at most {} of them.", ROW_BATCH),
    ("docs/redis.md", "The seed is replaced after {} days.", PASSWORD),
]


def read(folder, path):
    changed = os.path.join(folder, path) if folder else ""
    with open(changed if os.path.isfile(changed) else os.path.join(ROOT, path), encoding="utf-8") as text:
        return text.read()


def value_of(constant):
    path, pattern, unit = constant
    found = re.search(pattern, read("", path))
    if not found:
        raise SystemExit(f"{path}: the constant '{pattern}' was not found")
    value = int(found.group(1).replace("'", ""))
    if value % unit:
        raise SystemExit(f"{path}: {value} is no multiple of {unit}")
    return value // unit


def errors(folder):
    facts = [(page, sentence, value_of(constant)) for page, sentence, constant in SENTENCES]
    # A group is dated ahead, and kept for a further day after its date.
    days = value_of(GROUPS_AHEAD) + value_of(GROUP_HOURS) // 24
    facts.append(("docs/guarantees.md", "A lock keeps a group for {} days after its last grant", days))
    # A name in the index must be kept for longer than the lock.
    if value_of(INDEXED) <= value_of(KEPT):
        yield f"{CODEC}: the index forgets a lock that {READ} still keeps"
    for page, sentence, value in facts:
        expected = sentence.format(f"{value:,}")
        if expected not in " ".join(read(folder, page).split()):
            yield f"{page} does not contain '{expected}', as the code has it"


def main(arguments):
    found = list(errors(arguments[0] if arguments else ""))
    for error in found:
        print(error)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
