#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""documented.py CRONLATCH KUBECTL-CRONLATCH PAGE...: commands and names in the pages that do not exist.

It prints PAGE:LINE: NAME for each. The programs themselves report their subcommands and flags. Metrics, alerts and chart
values are those of docs/reference/metrics.md, charts/cronlatch/rules and values.yaml. Event reasons and names of log
events occur in the source. Read are code blocks, and texts
between backticks.
"""
import functools
import json
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SPAN = re.compile(r"`([^`]+)`")
METRIC = re.compile(r"(?<![\w:.-])cronlatch_[a-z_]+")
ALERT = re.compile(r"\bCronlatch[A-Z][A-Za-z]+\b")
VALUE = re.compile(r"(?<![\w./:-])([a-z][A-Za-z]*(?:\.[A-Za-z]+)+)(?![\w/.-])")
ANNOTATION = re.compile(r"(?<![\w.-])cronlatch\.dev/([a-z-]+)")
REASON = re.compile(r"reason=([A-Z][A-Za-z]+)")
# Event reasons of Kubernetes itself; prefixes of metrics of other programs.
KUBERNETES_REASONS = {"FailedCreate", "NodeNotReady"}
# Roles and settings of PostgreSQL, not metrics or settings of the project.
OF_POSTGRES = {"cronlatch_owner", "cronlatch_user", "synchronous_commit", "synchronous_standby_names", "remote_apply"}
OTHER_METRICS = ("kube_", "node_", "apiserver_")
# Flags that `kubectl options` lists: kubectl-cronlatch passes them on.
GLOBAL_FLAGS = {"--context", "--kubeconfig", "--request-timeout", "--as", "--token", "--password"}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as text:
        return text.read()


@functools.cache
def help_of(*command):
    """The help that a command prints; empty if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout if done.returncode == 0 else ""


@functools.cache
def metrics():
    return set(re.findall(r"^\| `(cronlatch_[a-z_]+)`", read("docs/reference/metrics.md"), re.M))


@functools.cache
def alerts():
    return set(re.findall(r"- alert: (\w+)", read("charts/cronlatch/rules/alerts.yaml")))


@functools.cache
def values():
    done = subprocess.run(["/usr/bin/yq", ".", os.path.join(ROOT, "charts/cronlatch/values.yaml")],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@functools.cache
def source():
    """The text of the programs, and of the objects that the chart renders."""
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "src", "charts", "scripts"], capture_output=True,
                           text=True, check=True).stdout.split("\n")
    kinds = (".cc", ".h", ".lua", ".yaml", ".tpl", ".sh", ".py", ".txt")
    return "\n".join(read(n) for n in names if n.endswith(kinds) and os.path.isfile(os.path.join(ROOT, n)))


@functools.cache
def occurs(name, around):
    """Whether the source contains the name between two characters of the set `around`."""
    return re.search(rf"[{around}]{re.escape(name)}[{around}]", source()) is not None


@functools.cache
def annotations():
    """The keys of the table in docs/kubernetes.md, and the literals in src: the operator writes some keys itself, and its name
    in Events is one."""
    keys = set(re.findall(r"^\| `cronlatch\.dev/([a-z-]+)`", read("docs/kubernetes.md"), re.M))
    return keys | set(re.findall(r'"cronlatch\.dev/([a-z-]+)"', read("src/labels/names.h") + read("src/kube/events.cc")))


def flags(arguments):
    """The long flags of a command line, up to --."""
    for argument in arguments:
        if argument == "--":
            return
        if argument.startswith("--"):
            yield argument.split("=")[0].strip(",;)")


def wrong_program(cronlatch, words):
    """What does not exist in the command line of another program that cronlatch accepts: its name and its flags."""
    page = help_of(cronlatch, "help", words[0])
    if not page:
        yield f"cronlatch as {words[0]}"
        return
    yield from (f"cronlatch as {words[0]} {f}" for f in flags(words[1:]) if not re.search(f"^ +{f}[ =]", page, re.M))


def wrong_commands(programs, text, in_block):
    """What does not exist in the commands of `text`, which is a line of a code block, or one span."""
    cronlatch, plugin = programs
    start = r"(?:^|[|] |[*] )" if in_block else "^"
    command = text.split(" #")[0]
    for found in re.finditer(start + r"cronlatch (?=[a-z])(.*)", command):
        words = found.group(1).split()
        page = help_of(cronlatch, "help", words[0])
        if not page:
            yield f"cronlatch {words[0]}"
            continue
        if words[0] == "as" and len(words) > 1 and words[1] != "NAME":
            yield from wrong_program(cronlatch, words[1:])
            continue
        known = page + help_of(cronlatch, "help", "options")
        yield from (f"cronlatch {words[0]} {f}" for f in flags(words[1:]) if not re.search(f"^ +{f}( |$)", known, re.M))
    for found in re.finditer(r"kubectl cronlatch\b ?(.*)", command):
        words = re.split(r" \[?(?=[A-Z])|[\[\]() ]+", found.group(1).strip())
        verb = words[0] if words[0] and not words[0].startswith("-") and words[0].islower() else "ls"
        page = help_of(plugin, "help", verb)
        if not page:
            yield f"kubectl cronlatch {verb}"
            continue
        yield from (f"kubectl cronlatch {verb} {f}" for f in flags(words)
                    if f not in GLOBAL_FLAGS and not re.search(f"(^ +|, ){f}( |$)", page, re.M))
    for found in re.finditer(r"\./dev ([a-z]+)", command):
        if not re.search(rf"^  \./dev {found.group(1)}\b", help_of(os.path.join(ROOT, "dev"), "help"), re.M):
            yield found.group(0)


def wrong_names(text):
    """The names in `text` that do not exist."""
    for name in METRIC.findall(text):
        if name in OF_POSTGRES:
            continue
        if name.endswith("_"):  # the beginning of several names: cronlatch_lock_*
            if not any(metric.startswith(name) for metric in metrics()):
                yield name
        elif name not in metrics() and re.sub(r"_(bucket|sum|count)$", "", name) not in metrics():
            yield name
    yield from (name for name in ALERT.findall(text) if name not in alerts())
    yield from (f"cronlatch.dev/{key}" for key in ANNOTATION.findall(text) if key.rstrip("-") not in annotations())
    yield from (f"Event {name}" for name in REASON.findall(text)
                if name not in KUBERNETES_REASONS and not occurs(name, '"'))
    if (re.fullmatch(r"[a-z]+(?:_[a-z]+)+", text) and not METRIC.fullmatch(text) and text not in OF_POSTGRES and not text.startswith(OTHER_METRICS)
            and not occurs(text, r"\W")):
        yield text
    for path in VALUE.findall(text):
        value = values()
        names = path.split(".")
        if names[0] not in value or names[-1] in ("cc", "h", "md", "conf"):  # a file
            continue
        if re.search(r"\.(svc|example|test)(\.|$)|\.[A-Z]", path):  # a host, a class
            continue
        for name in names:
            if isinstance(value, dict) and value and name not in value:
                yield f"value {path}"
                break
            value = value.get(name) if isinstance(value, dict) else None


def wrong(programs, page):
    """(LINE, NAME) of everything in the page that does not exist."""
    in_block = False
    with open(page, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if line.lstrip().startswith("```"):
                in_block = not in_block
                continue
            is_code = in_block or line.startswith("    ")
            for text in [line] if is_code else SPAN.findall(line.replace("\\|", " ")):
                for name in wrong_commands(programs, text.strip(), is_code):
                    yield number, name
                for name in wrong_names(text):
                    yield number, name


def main():
    programs, pages = sys.argv[1:3], sys.argv[3:]
    status = 0
    for page in pages:
        for number, name in wrong(programs, page):
            print(f"{page}:{number}: {name} does not exist")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
