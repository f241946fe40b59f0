# SPDX-License-Identifier: Apache-2.0
"""Which input sections of the linker hold what a run touches: run_order.py MAP PROFILE...

Prints linker script lines, in the order of the profiles: callgrind's with the instructions it saw, and lackey's, whose
names end in .reads. A library that was compiled without a section for each function is taken by the object file.
"""
import bisect
import re
import sys


LARGE = 2048  # bytes of a section
USED = 0.15  # of it; less of a large one is hardly used
# What valgrind hides from a program, or cannot see: the start of it, the vdso, string functions of newer processors, and
# the child between vfork and exec.
UNSEEN = [f"    *{where}" for where in (
    "crt1.o(.text)", "crtbeginT.o(.text)", "libc.a:strcmp-avx2.o(.text.avx)", "libc.a:strcmp-evex.o(.text.evex)")] + [
    f"    *libc.a:{name}.o(.text)" for name in (
        "dl-object", "dl-setup_hash", "dl-lookup", "ioctl", "setsid", "prctl", "getppid", "sigprocmask", "dup2", "execve")]


def sections(map_file, kind):
    """(start, end, section, file) of every piece of that kind (.text, .rodata), by address."""
    found = []
    wrapped = None
    with open(map_file, encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if wrapped:
                words, wrapped = [wrapped, *words], None
            elif not line.startswith(" " + kind):
                continue
            elif len(words) == 1:
                wrapped = words[0]
                continue
            if len(words) >= 4 and words[1].startswith("0x") and int(words[2], 16) > 0:
                start = int(words[1], 16)
                found.append((start, start + int(words[2], 16), words[0], words[3]))
    return sorted(found)


def executed(profile):
    """The addresses of the instructions that callgrind saw."""
    with open(profile, encoding="utf-8") as lines:
        return {int(line.split()[0], 16) for line in lines if line.startswith("0x")}


def read(trace):
    """The addresses that lackey saw read."""
    with open(trace, encoding="utf-8") as lines:
        return {int(line[3:].split(",")[0], 16) for line in lines if line.startswith(" L")}


def patterns(section, file):
    """Lines for the linker; of a string function also the variant for newer processors, which valgrind cannot run."""
    member = re.search(r"([^/]*\.a)\((.*)\)$", file)
    if section == ".text" or section.startswith((".text.avx", ".text.sse", ".text.evex")) or (member and section.startswith(".rodata")):
        if not member:
            return []
        found = [(section, *member.groups())]
        if section == ".text.avx":
            found.append((".text.evex", member[1], member[2].replace("avx2", "evex").replace("avx-", "evex-")))
        return ["    *%s:%s(%s)" % (library, name, where) for where, library, name in found]
    if section in (".rodata", ".rodata.str1.1", ".rodata.str1.8"):
        part = re.search(r"\.ltrans\d+\.ltrans\.o$", file)
        return ["    *%s(%s)" % (part[0], section)] if part else []
    return ["    *(%s)" % re.sub(r"\.lto_priv\.\d+(?=\.|$)", ".lto_priv.*", section)]


def hottest(pieces, addresses):
    """The pieces that hold one of these addresses. What is large and hardly used comes last: it would only keep the rest apart."""
    starts = [piece[0] for piece in pieces]
    touched = {}  # piece -> how many
    for address in addresses:
        at = bisect.bisect_right(starts, address) - 1
        if at >= 0 and address < pieces[at][1]:
            touched[at] = touched.get(at, 0) + 1
    size = {at: pieces[at][1] - pieces[at][0] for at in touched}
    sparse = {at for at, count in touched.items() if size[at] > LARGE and count * 4 < size[at] * USED}
    return [pieces[at] for at in sorted(touched, key=lambda at: (at in sparse, at))]


def main(map_file, *profiles):
    printed = set(UNSEEN)
    print(*UNSEEN, sep="\n")
    code, data = sections(map_file, ".text"), sections(map_file, ".rodata")
    for profile in profiles:
        pieces = hottest(data, read(profile)) if profile.endswith(".reads") else hottest(code, executed(profile))
        for piece in pieces:
            for line in patterns(*piece[2:]):
                if line not in printed:
                    printed.add(line)
                    print(line)


main(*sys.argv[1:])
