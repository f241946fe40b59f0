#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# generate.py FOLDER: writes the chart's dashboards there; part of ./dev gen.
import json
import pathlib
import sys

import operator_page
import overview


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for page in (overview.page(), operator_page.page()):
        path = folder / f"{page['uid']}.json"
        path.write_text(json.dumps(page, indent=1, ensure_ascii=False) + "\n")
        print(path)


if __name__ == "__main__":
    main()
