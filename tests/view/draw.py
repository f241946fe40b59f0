# SPDX-License-Identifier: Apache-2.0
# One function for each kind of panel: it draws the results of the queries as SVG inside a box. The supported kinds and
# options are those of the chart's dashboards.
import math
import re

import svg

TITLE, PAD = 26, 10
# The width of a bar as a share of its interval, as in Grafana.
BAR = 0.6


def named(one, target):
    """The legend of a series, according to legendFormat."""
    label = target["legendFormat"]
    for name, value in one["metric"].items():
        label = label.replace("{{" + name + "}}", value)
    # Grafana replaces a label that does not exist with nothing, and calls a series without a name Value.
    return re.sub(r"[{]{2}\w+[}]{2}", "", label).strip() or "Value"


def points_of(one):
    """The points of a range query, or the single point of an instant query."""
    values = one["values"] if "values" in one else [one["value"]]
    return [(time, float(value)) for time, value in values if not math.isnan(float(value))]


def mapped(defaults, value):
    """(text, color) of a value mapping, or None."""
    for mapping in defaults.get("mappings", []):
        found = mapping["options"].get(f"{value:g}")
        if found:
            return found["text"], svg.color(found["color"])
    return None


def threshold_color(defaults, value):
    chosen = "blue"
    for step in defaults.get("thresholds", {}).get("steps", []):
        if step["value"] is None or value >= step["value"]:
            chosen = step["color"]
    return svg.color(chosen)


class Box:
    """The area of a panel in pixels, and its time range."""

    def __init__(self, x, y, width, height, start, end, marks=()):
        self.x, self.y, self.width, self.height, self.start, self.end, self.marks = x, y, width, height, start, end, marks

    def at(self, time):
        return self.x + (time - self.start) / (self.end - self.start) * self.width

    def inside(self, left, top, right, bottom):
        return Box(self.x + left, self.y + top, self.width - left - right, self.height - top - bottom, self.start, self.end, self.marks)


def time_axis(box):
    out, count = [], max(2, min(6, int(box.width / 110)))
    for i in range(count + 1):
        time = box.start + (box.end - box.start) * i / count
        anchor = "start" if i == 0 else "end" if i == count else "middle"
        label = svg.clock(time) if box.end - box.start < 6 * 3600 else svg.hours(time)
        out.append(svg.text(box.at(time), box.y + box.height + 14, label, 10, svg.SOFT, anchor))
    return out


def legend_lines(entries, width, most=3):
    """The entries of a legend in lines, as Grafana wraps them; without those that do not fit."""
    lines, x = [[]], 0
    for label, fill in entries:
        label = svg.shortened(label, width - 22, 11)
        wide = 24 + len(label) * 6.4
        if x and x + wide > width:
            if len(lines) == most:
                break
            lines, x = lines + [[]], 0
        lines[-1].append((x, label, fill))
        x += wide
    return lines


def legend(box, lines):
    """At the bottom of the box."""
    out = []
    for i, line in enumerate(lines):
        y = box.y + box.height - 14 * (len(lines) - 1 - i)
        for x, label, fill in line:
            out += [svg.rect(box.x + x, y - 8, 10, 4, fill), svg.text(box.x + x + 14, y - 3, label, 11, svg.SOFT)]
    return out


def no_data(box):
    return [svg.text(box.x + box.width / 2, box.y + box.height / 2, "no data", 14, svg.SOFT, "middle")]


def stat(panel, results, box):
    defaults = panel["fieldConfig"]["defaults"]
    values = points_of(results[0][1][0]) if results[0][1] else []
    if not values:
        return no_data(box)
    last = values[-1][1]
    label, fill = mapped(defaults, last) or (svg.in_unit(last, defaults["unit"]), threshold_color(defaults, last))
    top = max(value for _, value in values) or 1
    low = box.y + box.height
    line = [(box.at(time), low - value / top * box.height * 0.35) for time, value in values]
    out = []
    if len(line) > 1:
        out = [svg.path([(line[0][0], low)] + line + [(line[-1][0], low)], "none", fill, 0, 0.15), svg.path(line, fill, width=1)]
    return out + [svg.text(box.x + box.width / 2, box.y + box.height / 2 + 6, label, 26, fill, "middle", "bold")]


def fixed_color(panel, label):
    for override in panel["fieldConfig"]["overrides"]:
        if override["matcher"]["options"] == label:
            return next((svg.color(one["value"]["fixedColor"]) for one in override["properties"] if one["id"] == "color"), None)
    return None


def timeseries(panel, results, box):
    defaults = panel["fieldConfig"]["defaults"]
    stacked = defaults["custom"]["stacking"]["mode"] == "normal"
    lines = [(named(one, target), points_of(one)) for target, found in results for one in found]
    if stacked:
        lines = [(label, points) for label, points in lines if any(value > 0 for _, value in points)]
    if not lines and not any(found for _, found in results):
        return no_data(box)
    sums = {}
    for _, points in lines:
        for time, value in points:
            sums[time] = sums.get(time, 0) + value if stacked else max(sums.get(time, 0), value)
    marks = svg.ticks(max(sums.values(), default=1), defaults["unit"])
    entries = [(label, fixed_color(panel, label) or svg.PALETTE[i % len(svg.PALETTE)]) for i, (label, _) in enumerate(lines)]
    below_plot = legend_lines(entries, box.width)
    left = max(len(svg.in_unit(mark, defaults["unit"])) for mark in marks) * 6 + 12
    plot = box.inside(left, 4, 6, 24 + 14 * len(below_plot))
    high = lambda value: plot.y + plot.height * (1 - value / marks[-1])
    out = []
    for mark in marks:
        out += [svg.path([(plot.x, high(mark)), (plot.x + plot.width, high(mark))], svg.LINE, width=1),
                svg.text(plot.x - 6, high(mark) + 4, svg.in_unit(mark, defaults["unit"]), 10, svg.SOFT, "end")]
    below = {}
    step = min((b - a for _, points in lines for (a, _), (b, _) in zip(points, points[1:])), default=1)
    for (_, points), (_, fill) in zip(lines, entries):
        if stacked:
            wide = max(1.0, BAR * step / (box.end - box.start) * plot.width)
            for time, value in points:
                base = below.get(time, 0)
                below[time] = base + value
                left, right = max(plot.at(time) - wide / 2, plot.x), min(plot.at(time) + wide / 2, plot.x + plot.width)
                if value > 0 and right > left:
                    out.append(svg.rect(left, high(base + value), right - left, high(base) - high(base + value), fill))
        else:
            for part in without_gaps(points, step):
                out.append(svg.path([(plot.at(time), high(value)) for time, value in part], fill))
    out += [svg.dashed(plot.at(time), plot.y, plot.y + plot.height, svg.color(color)) for time, color in box.marks if box.start <= time <= box.end]
    return out + time_axis(plot) + legend(box, below_plot)


def without_gaps(points, step):
    """The points in parts: a line ends where a value is missing."""
    parts = []
    for time, value in points:
        if not parts or time - parts[-1][-1][0] > 1.5 * step:
            parts.append([])
        parts[-1].append((time, value))
    return parts


def spans(points, step):
    """(from, to, value) of each period of equal values without a gap."""
    found = []
    for time, value in points:
        if found and found[-1][2] == value and time - found[-1][1] < step / 2:
            found[-1][1] = time + step
        else:
            found.append([time, time + step, value])
    return found


def state_timeline(panel, results, box):
    defaults = panel["fieldConfig"]["defaults"]
    rows = sorted((named(one, target), points_of(one)) for target, found in results for one in found)
    plot = box.inside(min(260, box.width * 0.4), 4, 6, 38)
    high = plot.height / max(1, len(rows))
    out, seen = [], {}
    for i, (label, points) in enumerate(rows):
        y = plot.y + i * high
        out.append(svg.text(plot.x - 8, y + high / 2 + 4, svg.shortened(label, plot.x - box.x - 8, 11), min(11, high * 0.9), svg.INK, "end"))
        step = min((b - a for (a, _), (b, _) in zip(points, points[1:])), default=1)
        for begin, end, value in spans(points, step):
            name, fill = mapped(defaults, value) or (f"{value:g}", svg.PALETTE[0])
            seen[name] = fill
            right = min(plot.at(end), plot.x + plot.width)
            out.append(svg.rect(plot.at(begin), y + high * 0.1, right - plot.at(begin), high * 0.8, fill))
    return out + time_axis(plot) + legend(box, legend_lines(sorted(seen.items()), box.width))


def table(panel, results, box):
    rows, columns = {}, []
    organize = next(one["options"] for one in panel["transformations"] if one["id"] == "organize")
    shown = lambda name: not organize["excludeByName"].get(name)
    for target, found in results:
        for one in found:
            labels = {name: value for name, value in one["metric"].items() if shown(name)}
            row = rows.setdefault(tuple(sorted(labels.items())), dict(labels))
            row["Value" if len(results) == 1 else f"Value #{target['refId']}"] = float(one["value"][1])
    order = organize["indexByName"]
    names = sorted({name for row in rows.values() for name in row if shown(name)}, key=lambda name: order.get(name, 99))
    columns = [(name, organize["renameByName"].get(name, name)) for name in names]
    usual, overrides = panel["fieldConfig"]["defaults"].get("unit", "short"), {}
    for one in panel["fieldConfig"]["overrides"]:
        overrides[one["matcher"]["options"]] = {**overrides.get(one["matcher"]["options"], {}), **{p["id"]: p["value"] for p in one["properties"]}}
    fixed = [overrides.get(title, {}).get("custom.width") for _, title in columns]
    rest = (box.width - sum(wide or 0 for wide in fixed)) / max(1, fixed.count(None))
    wide = [one or rest for one in fixed]
    at, out = [box.x + sum(wide[:i]) + 4 for i in range(len(columns))], []
    for i, (_, title) in enumerate(columns):
        out.append(svg.text(at[i], box.y + 14, svg.shortened(title, wide[i] - 4, 11), 11, svg.NAMED["blue"], weight="bold"))
    fits = int((box.height - 24) / 22)
    for j, row in enumerate(sorted(rows.values(), key=lambda row: [str(row.get(name, "")) for name, _ in columns[:3]])[:fits]):
        y = box.y + 36 + j * 22
        out.append(svg.path([(box.x, y - 15), (box.x + box.width, y - 15)], svg.LINE, width=1))
        for i, (name, title) in enumerate(columns):
            value = row.get(name)
            if isinstance(value, float):
                style = overrides.get(title, {})
                value = (mapped(style, value) or (svg.in_unit(value, style.get("unit", usual)), None))[0]
            out.append(svg.text(at[i], y, svg.shortened(value or "", wide[i] - 8), 12))
    return out


KINDS = {"stat": stat, "timeseries": timeseries, "state-timeline": state_timeline, "table": table}


def panel(one, results, x, y, width, height, start, end, marks):
    """A complete panel: frame, title and content."""
    box = Box(x + PAD, y + TITLE, width - 2 * PAD, height - TITLE - PAD, start, end, marks)
    frame = [svg.rect(x, y, width, height, svg.PAPER, 3, svg.LINE), svg.text(x + PAD, y + 18, svg.shortened(one["title"], width - 2 * PAD, 13), 13, svg.INK, weight="bold")]
    return frame + KINDS[one["type"]](one, results, box)
