#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# render.py ADDRESS SECONDS FOLDER: draws each dashboard as FOLDER/<uid>.svg, from its own queries over the SECONDS before
# END (Unix time, default now), scraped every SCRAPE seconds (default 2). It does not use Grafana: it draws the kinds of
# panel that the chart's dashboards use, with the results of their queries.
import os
import pathlib
import sys
import time

import draw
import pages
import svg

COLUMN, ROW, GAP, HEAD = 50, 36, 8, 46
SCRAPE = int(os.environ.get("SCRAPE", "2"))
HOUR = 3600


def answers(prometheus, page, panel, start, end, step):
    for target in panel["targets"]:
        expr = pages.substituted(target["expr"], page, int(end - start), step, SCRAPE)
        yield target, prometheus.at(expr, end) if target["instant"] else prometheus.over(expr, start, end, step)


def annotations(prometheus, page, start, end):
    """(time, color) of each annotation."""
    step = max(60, SCRAPE)
    for one in page["annotations"]["list"]:
        expr = pages.substituted(one["expr"], page, int(end - start), step, SCRAPE)
        times = sorted({time for series in prometheus.over(expr, start, end, step) for time, _ in series["values"]})
        # An increase lasts for its window: the annotation is at its begin.
        yield from ((time, one["iconColor"]) for before, time in zip([0] + times, times) if time - before > step)


def drawn(prometheus, page, start, end):
    marks = list(annotations(prometheus, page, start, end))
    bottom = max(one["gridPos"]["y"] + one["gridPos"]["h"] for one in page["panels"]) * ROW + HEAD + GAP
    out = [svg.rect(0, 0, 24 * COLUMN + GAP, bottom, svg.GROUND), svg.text(GAP + 4, 30, page["title"], 20, weight="bold"),
           svg.text(24 * COLUMN - 4, 30, f"{svg.clock(start, end - start)} to {svg.clock(end, end - start)} UTC", 12, svg.SOFT, "end")]
    for one in page["panels"]:
        place = one["gridPos"]
        x, y, width, height = place["x"] * COLUMN + GAP, place["y"] * ROW + HEAD, place["w"] * COLUMN - GAP, place["h"] * ROW - GAP
        if one["type"] == "row":
            out.append(svg.text(x + 4, y + 20, one["title"], 14, svg.SOFT, weight="bold"))
            continue
        # About as many points as Grafana requests: one for every 6 pixels.
        step = max(SCRAPE, int((end - start) / (width / 6)))
        if "interval" in one:  # bars of one hour; over a range of minutes, each bar covers 1/30 of it
            step = HOUR if end - start > 6 * HOUR else max(5 * SCRAPE, int((end - start) / 30))
        # Grafana aligns a range to its step.
        results = list(answers(prometheus, page, one, start // step * step, end // step * step, step))
        out += draw.panel(one, results, x, y, width, height, start, end, marks)
    body = "\n".join(out)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {24 * COLUMN + GAP} {bottom}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif">\n'
            f"<!-- SPDX-License-Identifier: Apache-2.0. Drawn by tests/view/render.py from the dashboard's own queries. -->\n{body}\n</svg>\n")


def main():
    prometheus, seconds, folder = pages.Prometheus(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    end = float(os.environ.get("END", time.time()))
    for page in pages.load():
        path = folder / f"{page['uid']}.svg"
        path.write_text(drawn(prometheus, page, end - seconds, end))
        print(path)


if __name__ == "__main__":
    main()
