#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# lint_dashboards.py [FOLDER]: prints each violation in a dashboard; exit code 1 when there is one. The rules are those
# of the monitoring mixins: variables in each query, a description for each panel and the unit of its expressions, counters
# only with rate or increase.
import json
import pathlib
import re
import sys
import urllib.parse

import pages
import units

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Metrics that the API server exports.
API_SERVER = {
    "apiserver_admission_webhook_rejection_count", "apiserver_admission_webhook_fail_open_count",
    "apiserver_admission_match_condition_evaluation_errors_total",
}
KINDS = {"stat", "timeseries", "table", "state-timeline"}
GROWING = re.compile(r"(_total|_count|_sum|_bucket)$")


def not_shown():
    """Names in scripts/dashboards/not_shown.txt."""
    lines = (ROOT / "scripts/dashboards/not_shown.txt").read_text().splitlines()
    return {line.split(":")[0] for line in lines if not line.startswith("#")}


def check_coverage(shown, known, report):
    """Each metric is in a dashboard, or in the list of those that are not."""
    families = {name for name in known if not re.search(r"_(bucket|count|sum)$", name)}
    in_dashboards = {re.sub(r"_(bucket|count|sum)$", "", name) for name in shown} | shown
    for name in sorted(families - in_dashboards - not_shown()):
        report(name, "is in no dashboard and not in scripts/dashboards/not_shown.txt")
    for name in sorted(not_shown() & in_dashboards):
        report(name, "is in a dashboard and in scripts/dashboards/not_shown.txt")
    for name in sorted(not_shown() - families):
        report(name, "is in scripts/dashboards/not_shown.txt, but docs/reference/metrics.md does not list it")


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


RECORDED = re.compile(r"^namespace_cronjob_lock(?:_\w+)?:(\w+):max$")


def recorded():
    """Names of the recording rules."""
    return set(re.findall(r"^  - record: (\S+)$", (ROOT / "charts/cronlatch/rules/recording.yaml").read_text(), re.M))


def metrics_of(expr):
    """(name, enclosing functions, text between its braces) of each metric in the expression."""
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


def check_page(page, known, report):
    title = page["title"]
    variables = {one["name"]: one for one in page["templating"]["list"]}
    if not re.fullmatch(r"cronlatch-[a-z]+", page["uid"] or ""):
        report(title, "has no uid of the form cronlatch-NAME")
    if page["editable"] or page["timezone"] != "utc" or "cronlatch" not in page["tags"]:
        report(title, "is editable, not in UTC, or not tagged")
    for name in ("datasource", "cluster", "job"):
        if name not in variables:
            report(title, f"has no variable {name}")
    for name, one in variables.items():
        if one["type"] == "query" and (one["datasource"]["uid"] != "${datasource}" or not one["includeAll"] or one["allValue"] != ".*"):
            report(title, f"variable {name}: another data source, or no All")
    ids = [one["id"] for one in page["panels"]]
    if len(ids) != len(set(ids)):
        report(title, "has two panels with one id")
    for one in pages.panels(page):
        check_panel(title, one, report)
        for link in row_links(one):
            if link["url"].startswith("/explore"):
                check_explore(f"{title}: {one['title']}", link["url"], variables, report)
    for where, expr in pages.expressions(page):
        check_expression(where, expr, known, variables, report)


def check_explore(where, url, variables, report):
    """A link to Grafana's Explore has a query, and a data source of the page."""
    try:
        panes = json.loads(urllib.parse.unquote(urllib.parse.urlparse(url).query.split("panes=")[1]))
        sources = [one["datasource"] for one in panes.values()] + [query["datasource"]["uid"] for one in panes.values() for query in one["queries"]]
    except (IndexError, KeyError, ValueError):
        report(where, f"links to Explore without a query: {url}")
        return
    for source in sources:
        if variables.get(source.strip("${}"), {}).get("type") != "datasource":
            report(where, f"links to Explore with an unknown data source: {source}")


def row_links(one):
    """The links of the cells of a table."""
    return [link for override in one["fieldConfig"]["overrides"] for part in override["properties"] if part["id"] == "links" for link in part["value"]]


def check_panel(title, one, report):
    where = f"{title}: {one['title']}"
    if one["type"] not in KINDS:
        report(where, f"is a {one['type']}")
    if len(one["title"]) < 3 or not one["description"].endswith("."):
        report(where, "has no title, or no sentence as description")
    units.check(where, one, report)
    sources = [one["datasource"]] + [target["datasource"] for target in one["targets"]]
    if any(source != {"type": "prometheus", "uid": "${datasource}"} for source in sources):
        report(where, "does not use the variable datasource")
    place = one["gridPos"]
    if place["x"] + place["w"] > 24:
        report(where, "exceeds the grid")
    for link in one["links"]:
        page = re.fullmatch(r"\$\{runbooks\}/(\w+)\.md", link["url"])
        if not page or not (ROOT / "docs/runbooks" / f"{page[1]}.md").exists():
            report(where, f"links to a missing page: {link['url']}")


def check_expression(where, expr, known, variables, report):
    found = metrics_of(expr)
    if not found:
        report(where, "queries no metric, or a metric without matchers")
    for name, functions, matchers in found:
        rule = RECORDED.match(name)
        if name not in known and name not in API_SERVER and not (rule and name in recorded()):
            report(where, f"queries {name}, which docs/reference/metrics.md does not list")
        grows = GROWING.search(rule[1] if rule else name) and name != "cronlatch_gated_cronjobs"
        # The first value of a series is its increase: `X unless X offset T`.
        if grows and not {"rate", "increase"} & set(functions) and f"unless {name}{matchers} offset" not in expr:
            report(where, f"queries the counter {name} without rate or increase")
        wanted = ["cluster"] if name in API_SERVER or rule else ["cluster", "job"]
        for label in wanted:
            # A recording rule has the label cluster only with prometheusRule.separateBy.
            if f'{label}=~"${label}{"|" if rule else ""}"' not in matchers:
                report(where, f"{name} is not limited to ${label}")
        if re.search(r'\b(job|instance|cluster)[=!]~?"[^$]', matchers):
            report(where, "selects a fixed job, instance or cluster")
    for window in re.findall(r"\[([^\]]*)\]", re.sub(r'"[^"]*"', '""', expr)):
        if window.rstrip(":") not in ("$__rate_interval",) and not re.fullmatch(r"24h|\$__range", window):
            report(where, f"uses the window [{window}] instead of [$__rate_interval]")
    for used in re.findall(r"\$(\w+)", expr):
        if used not in variables and not used.startswith("__"):
            report(where, f"uses ${used}, which is not a variable")


def main():
    broken = []
    pages_found = pages.load(*sys.argv[1:2])
    known = reference()
    report = lambda where, what: broken.append(f"{where}: {what}")
    for page in pages_found:
        check_page(page, known, report)
    shown = {name for page in pages_found for _, expr in pages.expressions(page) for name, _, _ in metrics_of(expr)}
    shown |= {RECORDED.match(name)[1] for name in shown if RECORDED.match(name)}
    check_coverage(shown, known, report)
    if len(pages_found) != 2 or len({page["uid"] for page in pages_found}) != 2:
        broken.append("the number of dashboards with different uids is not two")
    print(*broken, sep="\n")
    print(json.dumps({"dashboards": len(pages_found), "panels": sum(len(pages.panels(p)) for p in pages_found), "broken": len(broken)}))
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
