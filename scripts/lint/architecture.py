#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""architecture.py [PAGE]: docs/ARCHITECTURE.md names the modules and functions that exist.

- The table of modules has one row for each module of src/CMakeLists.txt. A row names the modules that this module
  links. It may omit one that a named module links.
- The table of the operator's folders has one row for each module of src/operator, and names only modules that it links.
- Each stop of a walk names files, and functions as `name()`. One of its files defines the function, and each of its
  files defines one of its functions.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs/ARCHITECTURE.md")
MODULE = re.compile(r"^\s*cronlatch_module\(([a-z][\w/]*)([^)]*)\)", re.MULTILINE)
FILE = re.compile(r"`(src/[\w/]+\.(?:cc|h|lua))`")
FUNCTION = re.compile(r"`((?:\w+::)?\w+)\(\)`")
ALL_FOLDERS = ("the folders of `operator`", "all folders below")


def modules():
    """Each module with the modules that it links itself."""
    with open(os.path.join(ROOT, "src/CMakeLists.txt"), encoding="utf-8") as text:
        found = MODULE.findall(re.sub(r"#.*", "", text.read()))
    names = {name.replace("/", "_"): name for name, _ in found}
    return {name: {names[word] for word in links.split()} for name, links in found}


def closure(links, name_of_links):
    found, pending = set(), list(links)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += name_of_links[name]
    return found


def rows(page, heading):
    """The cells of the rows below a table's heading."""
    lines = page[page.index(heading):].splitlines()[2:]
    for line in lines:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def linked(cell, known, folder):
    """The modules that a cell names, and what it names beside them."""
    named, unknown = set(), []
    for words in filter(None, (part.strip() for part in cell.split(","))):
        name = words.strip("`")
        if words in ALL_FOLDERS:
            named |= {module for module in known if module.startswith("operator/")}
        elif folder + name in known:
            named.add(folder + name)
        elif name in known:
            named.add(name)
        else:
            unknown.append(name)
    return named, unknown


def table_errors(page, known):
    for heading, column, folder in (("| module |", 2, ""), ("| folder | contents | uses |", 2, "operator/")):
        listed = set()
        for row in rows(page, heading):
            name = row[0].strip("`")
            listed.add(name)
            if name not in known:
                yield f"the table has a row for {name}, which is no module of src/CMakeLists.txt"
                continue
            named, unknown = linked(row[column], known, folder)
            links = closure(known[name], known)
            for other in unknown + sorted(named - links):
                yield f"the row of {name} names {other}, which it does not link"
            if not folder:
                for other in sorted(known[name] - closure(named, known)):
                    yield f"the row of {name} does not name {other}"
        expected = {name for name in known if name.startswith(folder.rstrip("/"))}
        for name in sorted(expected - listed):
            yield f"no row for the module {name} in the table {heading}"


def defines(path, function):
    """Whether a file defines a function: the name after a type, or after its class."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as text:
        code = text.read()
    if path.endswith(".lua"):
        return re.search(rf"^local function {function}\(", code, re.MULTILINE) is not None
    # A type before the name: otherwise it is a call.
    return re.search(rf"^ *(?! |return|else|throw)[\w:<>,*& ]+[ *&]{function}\(", code, re.MULTILINE) is not None


def walk_errors(page):
    walks = page[page.index("## Three walks"):]
    walks = walks[:walks.index("\n## ", 1)]
    stops = 0
    for stop in re.split(r"\n(?=\d+\. |\n)", walks):
        if not re.match(r"\d+\. ", stop):
            continue
        stops += 1
        name = stop.splitlines()[0][:40]
        files, functions = FILE.findall(stop), FUNCTION.findall(stop)
        if not files or not functions:
            yield f"stop '{name}' names no file or no function"
        existing = [path for path in files if os.path.isfile(os.path.join(ROOT, path))]
        for path in sorted(set(files) - set(existing)):
            yield f"stop '{name}': no file {path}"
        for function in functions:
            if not any(defines(path, function) for path in existing):
                yield f"stop '{name}': none of {', '.join(existing)} defines {function}()"
        for path in existing:
            if functions and not any(defines(path, function) for function in functions):
                yield f"stop '{name}': {path} defines none of its functions"
    if stops < 20:
        yield f"only {stops} stops were found in the walks"


def main(arguments):
    name = arguments[0] if arguments else PAGE
    with open(name, encoding="utf-8") as text:
        page = text.read()
    errors = list(table_errors(page, modules())) + list(walk_errors(page))
    for error in errors:
        print(f"{os.path.relpath(name, ROOT)}: {error}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
