#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom.py FILE VERSION RELATION=PACKAGE,PACKAGE...: an SPDX 2.3 document of one file of a release, on standard output.

PACKAGE is a Debian package of this machine; dpkg names its version and its source. RELATION is a relationship of SPDX:
STATIC_LINK for a library that is linked into a program, CONTAINS for a package whose files are in an image, BUILD_TOOL_OF
for a compiler. The time is SOURCE_DATE_EPOCH, so that the same files give the same document. SOURCE is the project's URL.
"""

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys

FIELDS = ["Package", "Version", "Architecture", "source:Package", "source:Version", "Homepage"]


def deb(name):
    form = "\\t".join("${%s}" % field for field in FIELDS)
    text = subprocess.run(["dpkg-query", "--show", f"--showformat={form}\\n", name], check=True, text=True, capture_output=True)
    return dict(zip(FIELDS, text.stdout.splitlines()[0].split("\t")))


def spdx_id(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def purl(package):
    escaped = package["Version"].replace("+", "%2B").replace(":", "%3A").replace("~", "~")
    return f"pkg:deb/debian/{package['Package']}@{escaped}?arch={package['Architecture']}&distro=debian-12"


def described(package):
    return {
        "SPDXID": spdx_id("deb-" + package["Package"]),
        "name": package["Package"],
        "versionInfo": package["Version"],
        "supplier": "Organization: Debian",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "homepage": package["Homepage"] or "NOASSERTION",
        "sourceInfo": f"built from {package['source:Package']} {package['source:Version']}",
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl(package)}
        ],
    }


def main():
    path, version, *relations = sys.argv[1:]
    name, source = os.path.basename(path), os.environ["SOURCE"]
    with open(path, "rb") as file:
        checksum = hashlib.sha256(file.read()).hexdigest()
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    main_id = spdx_id(name)
    artifact = {
        "SPDXID": main_id,
        "name": name,
        "versionInfo": version,
        "supplier": "Organization: cronlatch",
        "downloadLocation": f"{source}/releases/download/v{version}/{name}",
        "filesAnalyzed": False,
        "checksums": [{"algorithm": "SHA256", "checksumValue": checksum}],
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "Apache-2.0",
        "copyrightText": "NOASSERTION",
    }
    packages = {}
    relationships = [("SPDXRef-DOCUMENT", "DESCRIBES", main_id)]
    for relation in relations:
        kind, _, names = relation.partition("=")
        for one in filter(None, names.split(",")):
            packages[one] = packages.get(one) or described(deb(one))
            ends = (main_id, packages[one]["SPDXID"])
            relationships.append((ends[1], kind, ends[0]) if kind.endswith("_OF") else (ends[0], kind, ends[1]))
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"{source}/spdx/{name}/{checksum}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: cronlatch-release"]},
        "packages": [artifact] + [packages[one] for one in sorted(packages)],
        "relationships": [
            {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relationships
        ],
    }
    json.dump(document, sys.stdout, indent=1, sort_keys=True)
    print()


main()
