# SPDX-License-Identifier: Apache-2.0
# The quantity of a PromQL expression ("s", "count", "count/s", "bytes", "time", ...), from the suffixes of its metrics and from
# its operators, and the units in which a panel shows that quantity. Used by lint_dashboards.py.
import re

TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([a-zA-Z_:$][\w:$]*)|(\d+(?:\.\d+)?\w*)|(\{(?:"(?:[^"\\]|\\.)*"|[^}])*\})|(\[[^\]]*\])|(==|!=|>=|<=|[-+*/%^()<>,]))')
LEVELS = [{"or"}, {"and", "unless"}, {"==", "!=", ">", "<", ">=", "<="}, {"+", "-"}, {"*", "/", "%"}]
SAME = {"sum", "max", "min", "avg", "topk", "bottomk", "round", "increase", "abs", "quantile"}
COUNTS = {"count", "group"}
# The units of Grafana for each quantity. There is none for seconds of CPU per second.
UNITS = {
    "count": {"short", "none"}, "requests": {"short"}, "s": {"s"}, "bytes": {"bytes"}, "ratio": {"percentunit"}, "time in ms": {"dateTimeAsIso"},
    "count/s": {"cps"}, "requests/s": {"reqps"}, "s/s": {"none"}, "number": {"short", "none"},
}
SUFFIXES = [
    (r"_(timestamp|start_time)_seconds$", "time"), (r"_seconds_bucket$", "buckets of s"), (r"_seconds(_total|_sum)?$", "s"),
    (r"_bytes(_total|_sum)?$", "bytes"), (r"_requests_total$", "requests"), (r"", "count"),
]


class Mismatch(Exception):
    pass


def of_metric(name):
    name = re.sub(r"^\w+:(\w+):max$", r"\1", name)  # of a recording rule
    return next(quantity for suffix, quantity in SUFFIXES if re.search(suffix, name))


def of_call(name, args):
    if name == "time":
        return "time"
    if name == "vector":
        return "number"
    if name in COUNTS:
        return "count"
    if name == "histogram_quantile":
        return args[1].removeprefix("buckets of ")
    if name == "rate":
        return args[0] if args[0].startswith("buckets") else args[0] + "/s"
    if name in SAME:
        return args[-1]
    raise Mismatch(f"has the function {name}, which tests/view/units.py does not know")


def of_operator(operator, left, right, factor):
    if operator in ("and", "unless"):
        return left
    if operator == "-" and left == right == "time":
        return "s"
    if operator in "+-" and {left, right} == {"time", "s"}:
        return "time"
    if operator == "/" and left == right:
        return "ratio"
    if operator == "*" and left == "time" and factor == "1000":
        return "time in ms"
    if operator in "*/" and right in ("count", "number"):
        return left
    if "number" in (left, right) or left == right:
        return right if left == "number" and operator not in LEVELS[2] else left
    raise Mismatch(f"combines {left} and {right} with {operator}")


class Parser:
    def __init__(self, expr):
        self.tokens = [next(filter(None, found.groups())) for found in TOKEN.finditer(expr)]
        if TOKEN.sub("", expr).strip():
            raise Mismatch("has a token that tests/view/units.py does not know")

    def peek(self):
        return self.tokens[0] if self.tokens else ""

    def take(self, *expected):
        if expected and self.peek() not in expected:
            raise Mismatch(f"has {self.peek()!r} instead of {expected[0]!r}")
        return self.tokens.pop(0)

    def skip_labels(self, *names):
        """`by (a, b)` and the like, which do not change the quantity."""
        while self.peek() in names:
            self.take()
            if self.peek() == "(":
                while self.take() != ")":
                    pass

    def binary(self, level=0):
        if level == len(LEVELS):
            return self.operand()
        left = self.binary(level + 1)
        while self.peek() in LEVELS[level]:
            operator = self.take()
            self.skip_labels("bool", "on", "ignoring", "group_left", "group_right")
            factor = self.peek()
            left = of_operator(operator, left, self.binary(level + 1), factor)
        return left

    def arguments(self):
        args = []
        self.take("(")
        while self.peek() != ")":
            args.append(self.binary())
            if self.peek() == ",":
                self.take()
        self.take(")")
        return args

    def operand(self):
        word = self.peek()
        if word == "(":
            quantity = self.arguments()[0]
        elif word[:1].isdigit():
            self.take()
            quantity = "number"
        else:
            self.take()
            self.skip_labels("by", "without")
            quantity = of_call(word, self.arguments()) if self.peek() == "(" else of_metric(word)
            self.skip_labels("by", "without")
        while self.peek()[:1] in ("{", "[") or self.peek() == "offset":
            if self.take() == "offset":
                self.take()
        return quantity


def quantity_of(expr):
    parser = Parser(expr)
    quantity = parser.binary()
    if parser.tokens:
        raise Mismatch(f"ends before {parser.peek()!r}")
    return quantity


def shown_in(panel, target):
    """The unit of a query: of its column, or of the panel."""
    unit = panel["fieldConfig"]["defaults"]["unit"]
    names = next((one["options"]["renameByName"] for one in panel.get("transformations", []) if one["id"] == "organize"), {})
    column = names.get(f"Value #{target['refId']}", names.get("Value", ""))
    for override in panel["fieldConfig"]["overrides"]:
        if override["matcher"] == {"id": "byName", "options": column}:
            unit = next((part["value"] for part in override["properties"] if part["id"] == "unit"), unit)
    return unit


def check(where, panel, report):
    for target in panel["targets"]:
        unit, at = shown_in(panel, target), f"{where}, query {target['refId']}"
        try:
            quantity = quantity_of(target["expr"])
        except Mismatch as mismatch:
            report(at, str(mismatch))
            continue
        if unit not in UNITS.get(quantity, set()):
            report(at, f"shows {quantity} in the unit {unit or 'none at all'}")
