#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an OCI image layout as one tar: of an image index, with one layer for each architecture (oci.py image), or of a
Helm chart (oci.py chart).

The same input gives the same bytes: names are sorted, and every time is SOURCE_DATE_EPOCH. skopeo copies the file to a
registry: skopeo copy --all oci-archive:FILE docker://NAME.
"""

import argparse
import datetime
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile

EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
CREATED = datetime.datetime.fromtimestamp(EPOCH, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
OCI = "application/vnd.oci.image"
HELM = "application/vnd.cncf.helm"


def as_json(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def tar_of(folder):
    """The files below the folder; all belong to root."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        names = sorted(
            os.path.relpath(os.path.join(path, name), folder)
            for path, folders, files in os.walk(folder)
            for name in folders + files
        )
        for name in names:
            info = tar.gettarinfo(os.path.join(folder, name), name)
            info.uid = info.gid = 0
            info.uname = info.gname = ""
            info.mtime = EPOCH
            if info.islnk():
                sys.exit(f"oci.py: {name} is a hard link")
            if info.isreg():
                with open(os.path.join(folder, name), "rb") as file:
                    tar.addfile(info, file)
            else:
                tar.addfile(info)
    return out.getvalue()


class Layout:
    """Blobs by digest, and the file that contains all of them."""

    def __init__(self):
        self.files = {"oci-layout": as_json({"imageLayoutVersion": "1.0.0"})}

    def add(self, data, media_type, **more):
        self.files["blobs/sha256/" + digest(data)[7:]] = data
        return {"mediaType": media_type, "digest": digest(data), "size": len(data), **more}

    def add_manifest(self, config, layer, annotations, **more):
        manifest = {
            "schemaVersion": 2,
            "mediaType": f"{OCI}.manifest.v1+json",
            "config": config,
            "layers": [layer],
            "annotations": {"org.opencontainers.image.created": CREATED, **annotations},
        }
        return self.add(as_json(manifest), f"{OCI}.manifest.v1+json", **more)

    def write(self, path, manifest, tag):
        """A manifest, or an index of manifests, with its tag."""
        manifest["annotations"] = {"org.opencontainers.image.ref.name": tag}
        self.files["index.json"] = as_json(
            {"schemaVersion": 2, "mediaType": f"{OCI}.index.v1+json", "manifests": [manifest]}
        )
        with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
            for name in sorted(self.files):
                info = tarfile.TarInfo(name)
                info.size, info.mtime, info.mode = len(self.files[name]), EPOCH, 0o644
                tar.addfile(info, io.BytesIO(self.files[name]))


def labels_of(args):
    return dict(label.split("=", 1) for label in args.label)


def platform_image(layout, architecture, root, args):
    labels, layer = labels_of(args), tar_of(root)
    platform = {"architecture": architecture, "os": "linux"}
    config = {
        **platform,
        "created": CREATED,
        "config": {**json.loads(args.config), "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [digest(layer)]},
        "history": [{"created": CREATED, "created_by": "./dev release"}],
    }
    config = layout.add(as_json(config), f"{OCI}.config.v1+json")
    layer = layout.add(gzip.compress(layer, mtime=0), f"{OCI}.layer.v1.tar+gzip")
    return layout.add_manifest(config, layer, labels, platform=platform)


def image(args):
    """The tag is that of an index of one manifest for each architecture, from which a client chooses."""
    layout = Layout()
    roots = [root.split("=", 1) for root in args.root]
    index = {
        "schemaVersion": 2,
        "mediaType": f"{OCI}.index.v1+json",
        "manifests": [platform_image(layout, architecture, root, args) for architecture, root in roots],
        "annotations": {"org.opencontainers.image.created": CREATED, **labels_of(args)},
    }
    layout.write(args.out, layout.add(as_json(index), f"{OCI}.index.v1+json"), args.tag)


def chart(args):
    layout = Layout()
    with open(args.chart, "rb") as file:
        layer = layout.add(file.read(), f"{HELM}.chart.content.v1.tar+gzip")
    config = layout.add(as_json(json.load(sys.stdin)), f"{HELM}.config.v1+json")
    layout.write(args.out, layout.add_manifest(config, layer, labels_of(args)), args.tag)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, function in (("image", image), ("chart", chart)):
        command = commands.add_parser(name)
        command.set_defaults(function=function)
        command.add_argument("--out", required=True)
        command.add_argument("--tag", required=True)
        command.add_argument("--label", action="append", default=[], help="NAME=VALUE")
    commands.choices["image"].add_argument("--root", action="append", required=True, help="ARCHITECTURE=FOLDER")
    commands.choices["image"].add_argument("--config", required=True, help="JSON: Entrypoint, User, Env")
    commands.choices["chart"].add_argument("--chart", required=True, help="the .tgz; Chart.yaml as JSON is the input")
    args = parser.parse_args()
    args.function(args)


main()
