#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# lint_dashboards.py [FOLDER]: prints each rule that a dashboard breaks; exit code 1 when there is one. The rules are those of the
# monitoring mixins: variables everywhere, units, words on each panel, counters only under rate or increase.
import json
import pathlib
import re
import sys

import pages

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What the API server exports.
FOREIGN = {
    "apiserver_admission_webhook_rejection_count", "apiserver_admission_webhook_fail_open_count",
    "apiserver_admission_match_condition_evaluation_errors_total",
}
UNITS = {"short", "none", "s", "bytes", "percentunit", "reqps", "cps", "dateTimeAsIso"}
KINDS = {"stat", "timeseries", "table", "state-timeline", "heatmap"}
GROWING = re.compile(r"(_total|_count|_sum|_bucket)$")


def reference():
    """Names that docs/reference/metrics.md lists, with the series of its histograms."""
    names = set()
    for line in (ROOT / "docs/reference/metrics.md").read_text().splitlines():
        found = re.match(r"\| `((?:cronlatch|process)_[a-z0-9_]+)` \| (\w+)", line)
        if found:
            names.add(found[1])
            if found[2] == "histogram":
                names.update(found[1] + end for end in ("_bucket", "_count", "_sum"))
    return names


def metrics_of(expr):
    """(name, the functions that it stands in) of each metric in the expression, and the text between its braces."""
    stack, token = [], re.compile(r'"(?:[^"\\]|\\.)*"|([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(\{[^}]*\})?|[()]')
    word, found = "", []
    for match in token.finditer(expr):
        text = match[0]
        if text == "(":
            stack.append(word)
        elif text == ")":
            stack.pop()
        elif match[2] is not None:
            found.append((match[1], list(stack), match[2]))
        word = match[1] if match[1] and text != "(" else ("" if text != "(" else word)
    return found


def check_page(page, known, say):
    title = page["title"]
    variables = {one["name"]: one for one in page["templating"]["list"]}
    if not re.fullmatch(r"cronlatch-[a-z]+", page["uid"] or ""):
        say(title, "has no uid of ours")
    if page["editable"] or page["timezone"] != "utc" or "cronlatch" not in page["tags"]:
        say(title, "is editable, not in UTC, or not tagged")
    for name in ("datasource", "cluster", "job"):
        if name not in variables:
            say(title, f"has no variable {name}")
    for name, one in variables.items():
        if one["type"] == "query" and (one["datasource"]["uid"] != "${datasource}" or not one["includeAll"] or one["allValue"] != ".*"):
            say(title, f"variable {name}: another data source, or no All")
    ids = [one["id"] for one in page["panels"]]
    if len(ids) != len(set(ids)):
        say(title, "has two panels with one id")
    for one in pages.panels(page):
        check_panel(title, one, say)
    for where, expr in pages.expressions(page):
        check_expression(where, expr, known, variables, say)


def check_panel(title, one, say):
    where = f"{title}: {one['title']}"
    if one["type"] not in KINDS:
        say(where, f"is a {one['type']}")
    if len(one["title"]) < 3 or not one["description"].endswith("."):
        say(where, "has no title, or no sentence that describes it")
    if one["fieldConfig"]["defaults"]["unit"] not in UNITS:
        say(where, f"has no unit, or a strange one: {one['fieldConfig']['defaults']['unit']}")
    sources = [one["datasource"]] + [target["datasource"] for target in one["targets"]]
    if any(source != {"type": "prometheus", "uid": "${datasource}"} for source in sources):
        say(where, "does not use the variable datasource")
    place = one["gridPos"]
    if place["x"] + place["w"] > 24:
        say(where, "stands outside of the grid")
    for link in one["links"]:
        page = re.fullmatch(r"\$\{runbooks\}/(\w+)\.md", link["url"])
        if not page or not (ROOT / "docs/runbooks" / f"{page[1]}.md").exists():
            say(where, f"links to what is not there: {link['url']}")


def check_expression(where, expr, known, variables, say):
    found = metrics_of(expr)
    if not found:
        say(where, "asks for no metric, or for one without matchers")
    for name, functions, matchers in found:
        if name not in known and name not in FOREIGN:
            say(where, f"asks for {name}, which docs/reference/metrics.md does not know")
        grows = GROWING.search(name) and name != "cronlatch_gated_cronjobs"
        if grows and not {"rate", "increase"} & set(functions):
            say(where, f"shows the counter {name} as it is")
        wanted = ["cluster"] if name in FOREIGN else ["cluster", "job"]
        for label in wanted:
            if f'{label}=~"${label}"' not in matchers:
                say(where, f"{name} is not limited to ${label}")
        if re.search(r'\b(job|instance|cluster)[=!]~?"[^$]', matchers):
            say(where, "names a job, an instance or a cluster")
    for window in re.findall(r"\[([^\]]*)\]", re.sub(r'"[^"]*"', '""', expr)):
        if window.rstrip(":") not in ("$__rate_interval",) and not re.fullmatch(r"(24h|\$__range)(:30s)?", window):
            say(where, f"looks back [{window}] instead of [$__rate_interval]")
    for used in re.findall(r"\$(\w+)", expr):
        if used not in variables and not used.startswith("__"):
            say(where, f"uses ${used}, which is no variable")


def main():
    broken = []
    pages_found = pages.load(*sys.argv[1:2])
    known = reference()
    for page in pages_found:
        check_page(page, known, lambda where, what: broken.append(f"{where}: {what}"))
    if len(pages_found) != 2 or len({page["uid"] for page in pages_found}) != 2:
        broken.append("there are not two dashboards with a uid each")
    print(*broken, sep="\n")
    print(json.dumps({"dashboards": len(pages_found), "panels": sum(len(pages.panels(p)) for p in pages_found), "broken": len(broken)}))
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
