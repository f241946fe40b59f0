#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# query.py ADDRESS EXPRESSION: runs an instant query. One line per series, sorted: its labels as name=value, then its
# value.
import sys
import time

import pages


def line(one):
    labels = [f"{name}={value}" for name, value in sorted(one["metric"].items()) if name != "__name__"]
    return " ".join(labels + [f"{float(one['value'][1]):g}"])


def main():
    address, expr = sys.argv[1:]
    for text in sorted(line(one) for one in pages.Prometheus(address).at(expr, time.time())):
        print(text)


if __name__ == "__main__":
    main()
