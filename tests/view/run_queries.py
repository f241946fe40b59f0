#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# run_queries.py ADDRESS SECONDS [PANEL...]: runs every query of every panel, variable and annotation of the dashboards over
# the last SECONDS. One line for each: its number of points, or `EMPTY`, or the error of Prometheus. Exit code 1 unless each
# query returned data; those of each PANEL may be empty.
import re
import sys
import time

import pages

STEP, SCRAPE = 5, 2


def number_of_points(prometheus, expr, end, seconds):
    return sum(len(one["values"]) for one in prometheus.over(expr, end - seconds, end, STEP))


def variables(page):
    """(name, metric, label) of the query of each variable."""
    for one in page["templating"]["list"]:
        if one["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((.+), (\w+)\)", one["query"]["query"]).groups()
            yield f"{page['title']}: variable {one['name']}", metric, label


def main():
    prometheus, seconds, end, bad = pages.Prometheus(sys.argv[1]), int(sys.argv[2]), time.time(), 0
    for page in pages.load():
        answers = [(where, lambda metric=metric, label=label: len(prometheus.labels(label, pages.substituted(metric, page, seconds, STEP, SCRAPE))))
                   for where, metric, label in variables(page)]
        answers += [(where, lambda expr=expr: number_of_points(prometheus, pages.substituted(expr, page, seconds, STEP, SCRAPE), end, seconds))
                    for where, expr in pages.expressions(page)]
        for where, run in answers:
            try:
                found = run()
            except ValueError as error:
                found = f"ERROR {error}"
            may_be_empty = any(f": {panel} (" in where for panel in sys.argv[3:])
            if not isinstance(found, int) or (found == 0 and not may_be_empty):
                bad += 1
            print(f"{found or 'EMPTY':>6}  {where}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
