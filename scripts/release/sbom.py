#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom.py FILE VERSION [platform=NAME] [system=ROOT] RELATION=PACKAGE,PACKAGE...: an SPDX 2.3 document of one file of a
release, on standard output.

PACKAGE is a Debian package of this machine, or of the root that `system` names; dpkg has its version and its source. RELATION
is a relationship of SPDX: STATIC_LINK for a library that is linked into a program, CONTAINS for a package whose files are in
an image, BUILD_TOOL_OF for a compiler, which is always one of this machine. After `platform`, as in linux/arm64, relations are
those of the image for this platform, which the file contains. The time is SOURCE_DATE_EPOCH, so that the same files give the
same document. SOURCE is the project's URL.
"""

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys

FIELDS = ["Package", "Version", "Architecture", "source:Package", "source:Version", "Homepage"]


def deb(name, system):
    form = "\\t".join("${%s}" % field for field in FIELDS)
    command = ["dpkg-query", f"--admindir={system}/var/lib/dpkg", "--show", f"--showformat={form}\\n", name]
    text = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE)
    return dict(zip(FIELDS, text.stdout.splitlines()[0].split("\t")))


def spdx_id(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def purl(package):
    escaped = package["Version"].replace("+", "%2B").replace(":", "%3A").replace("~", "~")
    return f"pkg:deb/debian/{package['Package']}@{escaped}?arch={package['Architecture']}&distro=debian-12"


def deb_id(package):
    return spdx_id(f"deb-{package['Package']}-{package['Version']}-{package['Architecture']}")


def described(package):
    return {
        "SPDXID": deb_id(package),
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


def platform_image(file, platform, version):
    return {
        "SPDXID": spdx_id(f"{file}-{platform}"),
        "name": f"{file} {platform}",
        "versionInfo": version,
        "supplier": "Organization: cronlatch",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "Apache-2.0",
        "copyrightText": "NOASSERTION",
    }


def main():
    path, version, *arguments = sys.argv[1:]
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
    packages = {main_id: artifact}
    relationships = [("SPDXRef-DOCUMENT", "DESCRIBES", main_id)]
    subject, system = main_id, ""
    for argument in arguments:
        kind, _, value = argument.partition("=")
        if kind == "system":
            system = value
        elif kind == "platform":
            part = platform_image(name, value, version)
            subject = part["SPDXID"]
            packages[subject] = part
            relationships.append((main_id, "CONTAINS", subject))
        else:
            tool = kind.endswith("_OF")
            for one in filter(None, value.split(",")):
                package = described(deb(one, "" if tool else system))
                packages[package["SPDXID"]] = package
                ends = (package["SPDXID"], subject) if tool else (subject, package["SPDXID"])
                relationships.append((ends[0], kind, ends[1]))
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"{source}/spdx/{name}/{checksum}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: cronlatch-release"]},
        "packages": list(packages.values()),
        "relationships": [
            {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relationships
        ],
    }
    json.dump(document, sys.stdout, indent=1, sort_keys=True)
    print()


main()
