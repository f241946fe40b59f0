# SPDX-License-Identifier: Apache-2.0
# Parts of a dashboard as Grafana's JSON: panels, variables, and the PromQL for lock statistics. Used by overview.py and
# operator_page.py, which contain the pages.
import json
import urllib.parse

SOURCE = {"type": "prometheus", "uid": "${datasource}"}
# Matchers of the operator's own series, and of the lock statistics. The leader of each cluster that shares the store
# exports these.
OWN = 'job=~"$job", cluster=~"$cluster"'
SELECTED = OWN + ', namespace=~"$namespace", cronjob=~"$cronjob", lock=~"$lock"'
BY = "namespace, cronjob, lock"


def lock_statistic(metric, more_labels="", matchers=""):
    """The maximum of a lock statistic over all its exporters: the value in the store."""
    labels = BY + (", " + more_labels if more_labels else "")
    return f"max by ({labels}) ({metric}{{{SELECTED}{', ' + matchers if matchers else ''}}})"


def increase_of(metric, window="$__rate_interval:", more_labels="", matchers=""):
    return f"increase({lock_statistic(metric, more_labels, matchers)}[{window}])"


# Of the recorded series, which have the labels in BY only, and `cluster` with the chart value prometheusRule.separateBy.
RECORDED = 'cluster=~"$cluster|", namespace=~"$namespace", cronjob=~"$cronjob", lock=~"$lock"'


def recorded_increase(metric, window, more_labels="", matchers=""):
    """The increase of a lock statistic over a long time, from its recording rule: without a subquery."""
    level = "namespace_cronjob_lock" + "".join("_" + label for label in more_labels.split(", ") if label)
    return f"increase({level}:{metric}:max{{{RECORDED}{', ' + matchers if matchers else ''}}}[{window}])"


def query(expr, legend="", kind="range", ref="A"):
    return {
        "datasource": SOURCE, "editorMode": "code", "expr": expr, "legendFormat": legend or "__auto", "refId": ref,
        "instant": kind in ("instant", "table"), "range": kind == "range",
        "format": "table" if kind == "table" else "time_series",
    }


def queries(*pairs, kind="range"):
    return [query(expr, legend, kind, chr(ord("A") + i)) for i, (expr, legend) in enumerate(pairs)]


def runbook(alert):
    return {"title": f"Runbook: {alert}", "url": "${runbooks}/" + alert + ".md", "targetBlank": True}


def steps(*pairs):
    """steps((None, "green"), (1, "red")): the color for values from each limit."""
    return {"mode": "absolute", "steps": [{"value": value, "color": color} for value, color in pairs]}


def value_texts(**by_value):
    """value_texts(_0=("down", "red"), _1=("up", "green"))"""
    options = {key[1:]: {"text": text, "color": color, "index": i} for i, (key, (text, color)) in enumerate(by_value.items())}
    return [{"type": "value", "options": options}]


def panel(kind, title, description, targets, size, unit="short", options=None, custom=None, runbooks=(), **defaults):
    fields = {"unit": unit, "color": {"mode": "palette-classic"}, "custom": custom or {}}
    fields.update(defaults)
    return {
        "type": kind, "title": title, "description": description, "datasource": SOURCE, "targets": targets, "size": size,
        "fieldConfig": {"defaults": fields, "overrides": []}, "options": options or {}, "links": [runbook(a) for a in runbooks],
    }


def stat(title, description, expr, size=(4, 4), thresholds=None, kind="range", **more):
    options = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "colorMode": "value", "graphMode": "area",
               "textMode": "value", "justifyMode": "auto", "orientation": "auto"}
    return panel("stat", title, description, queries((expr, title), kind=kind), size, options=options,
                 thresholds=thresholds or steps((None, "blue")), color={"mode": "thresholds"}, **more)


def series(title, description, targets, size=(12, 8), stacked=False, colors=None, **more):
    """`colors`: by the legend of a series; the others have those of the palette."""
    custom = {"drawStyle": "bars" if stacked else "line", "fillOpacity": 80 if stacked else 10, "lineWidth": 0 if stacked else 1,
              "stacking": {"mode": "normal" if stacked else "none", "group": "A"}, "showPoints": "never"}
    options = {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True}, "tooltip": {"mode": "multi", "sort": "desc"}}
    drawn = panel("timeseries", title, description, targets, size, options=options, custom=custom, min=0, **more)
    drawn["fieldConfig"]["overrides"] = [
        {"matcher": {"id": "byName", "options": legend}, "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": color}}]}
        for legend, color in (colors or {}).items()]
    if stacked:
        drawn["interval"] = "1h"  # each bar covers one hour, so that no run is counted in two bars
    return drawn


def timeline(title, description, targets, size=(24, 8), **more):
    options = {"showValue": "never", "rowHeight": 0.8, "mergeValues": True, "legend": {"showLegend": True, "displayMode": "list", "placement": "bottom"}}
    return panel("state-timeline", title, description, targets, size, unit="none", options=options, custom={"fillOpacity": 80, "lineWidth": 0}, **more)


def explore(source, expr):
    """A link from a row of a table to Grafana's Explore, with the data source in a variable. In the expression, NAMESPACE
    and CRONJOB are those of the row."""
    panes = {"a": {"datasource": "SOURCE", "queries": [{"refId": "A", "expr": expr, "datasource": {"uid": "SOURCE"}}], "range": {"from": "now-24h", "to": "now"}}}
    text = urllib.parse.quote(json.dumps(panes))
    for name, value in (("SOURCE", source), ("NAMESPACE", "__data.fields.Namespace"), ("CRONJOB", "__data.fields.CronJob")):
        text = text.replace(name, "${" + value + "}")
    return "/explore?schemaVersion=1&panes=" + text


def row(title):
    return {"type": "row", "title": title, "collapsed": False, "panels": [], "size": (24, 1)}


def positioned(panels):
    """Positions: left to right, top to bottom, in a grid of 24 columns."""
    x = y = height = 0
    for number, one in enumerate(panels, 1):
        wide, high = one.pop("size")
        if x + wide > 24 or one["type"] == "row":
            x, y, height = 0, y + height, 0
        one.update(id=number, gridPos={"x": x, "y": y, "w": wide, "h": high})
        x, height = x + wide, max(height, high)
    return panels


def variable(name, label, values, hide=0, multi=True):
    return {"type": "query", "name": name, "label": label, "datasource": SOURCE, "query": {"query": values, "refId": name}, "definition": values,
            "refresh": 2, "sort": 1, "includeAll": True, "allValue": ".*", "multi": multi, "hide": hide, "options": [],
            "current": {"text": ["All"], "value": ["$__all"]}}


def dashboard(uid, title, description, variables, annotations, panels):
    return {
        "uid": uid, "title": title, "description": description, "tags": ["cronlatch"], "editable": False, "graphTooltip": 1,
        "schemaVersion": 39, "version": 1, "timezone": "utc", "refresh": "30s", "time": {"from": "now-24h", "to": "now"},
        "templating": {"list": [
            {"type": "datasource", "name": "datasource", "label": "Data source", "query": "prometheus", "hide": 0, "current": {}, "options": []},
            {"type": "constant", "name": "runbooks", "label": "Runbooks", "query": "docs/runbooks", "hide": 2},
            {"type": "datasource", "name": "logs", "label": "Logs", "query": "loki", "hide": 2, "current": {}, "options": []},
            variable("cluster", "Cluster", "label_values(cronlatch_build_info, cluster)", hide=2),
        ] + variables},
        "annotations": {"list": annotations},
        "links": [{"type": "dashboards", "title": "Cronlatch", "tags": ["cronlatch"], "asDropdown": False, "includeVars": True, "keepTime": True},
                  {"type": "link", "title": "Runbooks", "url": "${runbooks}/README.md", "targetBlank": True, "icon": "doc"}],
        "panels": positioned(panels),
    }
