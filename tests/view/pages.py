# SPDX-License-Identifier: Apache-2.0
# Dashboards (from their JSON) and a Prometheus (through its API), for the lint, the query runner and the renderer.
# Uses Python's standard library only.
import json
import pathlib
import re
import urllib.error
import urllib.parse
import urllib.request

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "charts/cronlatch/dashboards"


def load(folder=FOLDER):
    return [json.loads(path.read_text()) for path in sorted(pathlib.Path(folder).glob("*.json"))]


def panels(page):
    """All panels except rows."""
    return [one for one in page["panels"] if one["type"] != "row"]


def expressions(page):
    """(where, expression) of every query: panels and annotations."""
    for one in panels(page):
        for target in one["targets"]:
            yield f"{page['title']}: {one['title']} ({target['refId']})", target["expr"]
    for one in page["annotations"]["list"]:
        yield f"{page['title']}: annotation {one['name']}", one["expr"]


def substituted(expr, page, seconds, step, scrape):
    """As Grafana replaces variables: each is `All`, the range is `seconds` with the step `step`, scraped every `scrape` seconds."""
    values = {one["name"]: one["allValue"] for one in page["templating"]["list"] if one["type"] == "query"}
    values.update(__rate_interval=f"{max(step + scrape, 4 * scrape)}s", __range=f"{seconds}s", __interval=f"{step}s")
    text = re.sub(r"\$(\w+)", lambda found: values[found[1]], expr)
    return text


class Prometheus:
    def __init__(self, address):
        self.address = address.rstrip("/")

    def _get(self, path, **parameters):
        url = f"{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise ValueError(json.load(error).get("error", str(error))) from None

    def at(self, expr, time):
        return self._get("query", query=expr, time=time)["result"]

    def over(self, expr, start, end, step):
        return self._get("query_range", query=expr, start=start, end=end, step=step)["result"]

    def labels(self, name, match):
        return self._get(f"label/{name}/values", **{"match[]": match})
