#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks texts against scripts/lint/words.txt.

words.py [FILE...]   prints each find (FILE:LINE: found -> use); exit code 1 when there is one. Without FILE: every text
                     of the repository, and the subjects of the commits that scripts/lint/subjects.sh checks.
words.py --subjects  checks only those subjects.
words.py --count     prints the number of finds in each file instead.

C++ and Lua: comments and string literals. Other files: every line. An expression that begins with `name:` is compared
with each identifier of C++ and Lua, as a whole. Public names are not checked: words that begin with
`cronlatch` and continue with `-`, `_`, `.` or `/` (metrics, annotations, policies), options (`--on-busy`), and literals
of one word (fields of stored records and of JSON, values).
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIST = os.path.join(ROOT, "scripts/lint/words.txt")
# LICENSE is not this project's text; corpora and version 0.1.0's scripts are data; the list contains its own words.
NOT_CHECKED = re.compile(r"^LICENSE$|/corpus/|^tests/scripts/v0_1_0/|^scripts/lint/words\.txt$|\.(sum|mod|svg)$")
CODE = (".cc", ".h", ".lua")
IDENTIFIERS = (".cc", ".h", ".lua")
NAME_RULE = "name:"
COMMENT = {".lua": "--"}
PUBLIC_NAME = re.compile(r"\bcronlatch[-_./][\w./-]*\w|(?<![\w-])--[a-z][a-z-]*", re.IGNORECASE)
ONE_WORD = re.compile(r'"[\w.-]*"')
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
SPACE = r"[^\S\n]+"  # within one line


def read_list():
    """The pairs (expression, replacement) of the list for prose, and those for identifiers; one compiled expression each."""
    prose, names = [], []
    with open(LIST, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            expression, separator, use = line.partition("\t")
            if not separator or not use:
                sys.exit(f"{LIST}:{number}: expected an expression, a tab and a replacement")
            if expression.startswith(NAME_RULE):
                names.append((re.compile(rf"\b(?:{expression[len(NAME_RULE):]})\b"), use))
            else:
                prose.append((re.compile(expression.replace(" ", SPACE), re.IGNORECASE | re.MULTILINE), use))
    return prose, names


def parts_of(line, suffix):
    """What people read in a line of code (its string literals and its comment), and its code without literals."""
    if line.lstrip().startswith("#include"):
        return "", ""
    mark = COMMENT.get(suffix, "//")
    # A mark inside of a literal begins no comment: literals are blanked before the search.
    blanked = STRING.sub(lambda literal: " " * len(literal.group()), line)
    start = blanked.find(mark)
    start = len(line) if start < 0 else start
    texts = [literal for literal in STRING.findall(line[:start]) if not ONE_WORD.fullmatch(literal)]
    return " | ".join(texts + [line[start:]]), blanked[:start]


def finds_in(lines, rules, suffix=""):
    """Line, text and replacement of each find. Each expression searches all lines at once: line by line takes much longer."""
    prose_rules, name_rules = rules
    parts = [parts_of(line, suffix) if suffix in CODE else (line, "") for line in lines]
    prose = PUBLIC_NAME.sub(lambda name: "_" * len(name.group()), "\n".join(text for text, _ in parts))
    searches = [(prose, rule) for rule in prose_rules]
    if suffix in IDENTIFIERS:
        code = "\n".join(code for _, code in parts)
        searches += [(code, rule) for rule in name_rules]
    found = [
        (text.count("\n", 0, find.start()) + 1, find.group(), use)
        for text, (expression, use) in searches
        for find in expression.finditer(text)
    ]
    return sorted(found, key=lambda find: find[0])


def git(*words):
    done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else None


def texts():
    """(name, lines, suffix) of everything that is checked without FILE."""
    files = git("ls-files")
    if not files:
        sys.exit("words.py: git lists no files here; name the files to check")
    for name in files:
        path = os.path.join(ROOT, name)
        if NOT_CHECKED.search(name) or not os.path.isfile(path):
            continue
        yield name, lines_of(path), os.path.splitext(name)[1]
    yield from subjects()


def subjects():
    """The same of the subjects of commits."""
    script = os.path.join(ROOT, "scripts/lint/subjects.sh")
    listed = subprocess.run(["bash", script, "list"], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        commit, _, subject = line.partition(" ")
        yield f"commit {commit}", [subject], ""


def lines_of(path):
    with open(path, encoding="utf-8", errors="replace") as text:
        return text.read().splitlines()


def checked(files):
    if files == ["--subjects"]:
        return subjects()
    return [(f, lines_of(f), os.path.splitext(f)[1]) for f in files] if files else texts()


def main(arguments):
    rules = read_list()
    count = arguments[:1] == ["--count"]
    total = 0
    for name, lines, suffix in checked(arguments[1:] if count else arguments):
        finds = finds_in(lines, rules, suffix)
        total += len(finds)
        if count and finds:
            print(f"{len(finds):6} {name}")
        if not count:
            for number, found, use in finds:
                print(f"{name}:{number}: {found} -> {use}")
    if count:
        print(f"{total:6} in all")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
