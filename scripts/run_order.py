# SPDX-License-Identifier: Apache-2.0
"""Which input sections of the linker hold the functions that callgrind saw: run_order.py PROGRAM MAP PROFILE...

Prints linker script lines, in the order of the profiles. A library that was compiled without a section for each
function is taken by the object file.
"""
import bisect
import re
import subprocess
import sys


# What valgrind hides from a program, or cannot see: the start of it, the vdso, string functions of newer processors, and
# the child between vfork and exec.
UNSEEN = ["    *crt1.o(.text)", "    *(.text.evex)"] + [
    f"    *libc.a:{name}.o(.text)" for name in ("dl-object", "ioctl", "setsid", "prctl", "getppid", "sigprocmask", "dup2", "execve")]


def sections(map_file):
    """(start, end, section, file) of every piece of code, by address."""
    found = []
    wrapped = None
    with open(map_file, encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if wrapped:
                words, wrapped = [wrapped, *words], None
            elif not line.startswith(" .text"):
                continue
            elif len(words) == 1:
                wrapped = words[0]
                continue
            if len(words) >= 4 and words[1].startswith("0x") and int(words[2], 16) > 0:
                start = int(words[1], 16)
                found.append((start, start + int(words[2], 16), words[0], words[3]))
    return sorted(found)


def addresses(program):
    listing = subprocess.run(["nm", "--defined-only", program], check=True, capture_output=True, text=True).stdout
    found = {}  # copies of one function that the optimizer made share its name
    for address, kind, name in (line.split(None, 2) for line in listing.splitlines()):
        if kind in "tTwWiI":
            found.setdefault(name, []).append(int(address, 16))
    return found


def called(profile):
    """Names, or addresses where there is no name, as callgrind wrote them; a recursion's mark is cut off."""
    with open(profile, encoding="utf-8") as lines:
        for line in lines:
            match = re.match(r"c?fn=\(\d+\) (.+)", line)
            if match:
                yield re.sub(r"'\d+$", "", match.group(1))


def pattern(section, file):
    if section != ".text":
        return "    *(%s)" % re.sub(r"\.lto_priv\.\d+$", ".lto_priv.*", section)
    member = re.search(r"([^/]*\.a)\((.*)\)$", file)
    return "    *%s:%s(.text)" % member.groups() if member else None


def main(program, map_file, *profiles):
    code, address_of = sections(map_file), addresses(program)
    starts = [piece[0] for piece in code]
    printed = set(UNSEEN)
    print(*UNSEEN, sep="\n")
    for profile in profiles:
        for name in called(profile):
            for address in [int(name, 16)] if name.startswith("0x") else address_of.get(name, []):
                at = bisect.bisect_right(starts, address) - 1
                if at < 0 or address >= code[at][1]:
                    continue
                line = pattern(*code[at][2:])
                if line and line not in printed:
                    printed.add(line)
                    print(line)


main(*sys.argv[1:])
