# SPDX-License-Identifier: Apache-2.0
# Text, colors, scales and number formats for the pictures of dashboards: the SVG functions that do not depend on a
# dashboard.
import datetime
import html
import math

PALETTE = ["#73BF69", "#F2CC0C", "#8AB8FF", "#FF780A", "#F2495C", "#5794F2", "#B877D9", "#705DA0", "#37872D", "#FADE2A"]  # as in Grafana
NAMED = {"green": "#299c46", "red": "#d44a3a", "orange": "#e8871e", "blue": "#3274d9", "text": "#1f2329",
         "yellow": "#FADE2A", "light-yellow": "#FFEE52", "purple": "#B877D9", "dark-red": "#C4162A", "dark-orange": "#FA6400", "transparent": "#eceef1"}
INK, SOFT, LINE, GROUND, PAPER = "#1f2329", "#6b7280", "#e3e6ea", "#f4f5f7", "#ffffff"


def color(name):
    return NAMED.get(name, name)


def text(x, y, label, size=12, fill=INK, anchor="start", weight="normal"):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}" text-anchor="{anchor}" font-weight="{weight}">{html.escape(str(label))}</text>'


def rect(x, y, width, height, fill, radius=0, stroke="none"):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}" rx="{radius}" fill="{fill}" stroke="{stroke}"/>'


def path(points, stroke, fill="none", width=1.5, opacity=1.0):
    commands = " ".join(f"{'L' if i else 'M'}{x:.1f},{y:.1f}" for i, (x, y) in enumerate(points))
    return f'<path d="{commands}" stroke="{stroke}" stroke-width="{width}" fill="{fill}" fill-opacity="{opacity}"/>'


def dashed(x, top, bottom, stroke):
    return f'<path d="M{x:.1f},{top:.1f} L{x:.1f},{bottom:.1f}" stroke="{stroke}" stroke-width="1" stroke-dasharray="4 3"/>'


def shortened(label, pixels, size=12):
    fits = max(1, int(pixels / (size * 0.58)))
    return label if len(label) <= fits else label[: fits - 1] + "…"


def format_seconds(value):
    """With the limits and the names of Grafana."""
    size = abs(value)
    for limit, unit, divisor in ((1e-3, "µs", 1e-6), (1, "ms", 1e-3), (60, "s", 1), (3600, "mins", 60), (86400, "hours", 3600), (604800, "days", 86400)):
        if size < limit:
            number = f"{value / divisor:.3g}"
            return f"{number} {unit.rstrip('s') if number == '1' and divisor > 1 else unit}"
    return f"{value / 604800:.3g} weeks"


def in_unit(value, unit):
    if value is None or math.isnan(value):
        return "-"
    if unit == "s":
        return "0 s" if value == 0 else format_seconds(value)
    if unit == "bytes":
        for name, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
            if abs(value) >= size:
                return f"{value / size:.3g} {name}"
        return f"{value:.3g} B"
    if unit == "percentunit":
        return f"{value * 100:.3g}%"
    if unit in ("reqps", "cps"):
        return f"{value:.3g} {'req/s' if unit == 'reqps' else 'c/s'}"
    if unit == "dateTimeAsIso":
        return datetime.datetime.fromtimestamp(value / 1000, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
    if unit == "short" and abs(value) >= 1000:
        return f"{value / 1000:.3g} K"
    return f"{value:.4g}"


TIMES = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2419200)


def ticks(top, unit="", most=4):
    """Round numbers from 0 to about top, in the unit in which they are displayed."""
    if top <= 0:
        return [0, 1]
    scale = 2**20 if unit == "bytes" and top > 2**20 else 1
    raw = top / most / scale
    size = 10 ** math.floor(math.log10(raw))
    step = scale * next(factor * size for factor in (1, 2, 5, 10) if factor * size >= raw * 0.999)
    if unit == "s" and 1 < raw < TIMES[-1]:
        step = next(time for time in TIMES if time >= raw * 0.999)
    return [step * i for i in range(int(math.ceil(top / step - 1e-9)) + 1)]


def clock(time, seconds=0):
    """The time of day; over a range of hours without seconds."""
    return datetime.datetime.fromtimestamp(time, datetime.timezone.utc).strftime("%m/%d %H:%M" if seconds >= 86400 else "%H:%M:%S")


def hours(time):
    return datetime.datetime.fromtimestamp(time, datetime.timezone.utc).strftime("%H:%M")
