# SPDX-License-Identifier: Apache-2.0
# Writes images into the folder of a docker-registry (its driver `filesystem`), in the format that a push creates.
# Thousands of pushes would take longer than the measurement. The registry validates and serves them like pushed images.
#   registry_images.py FOLDER REPOSITORY TAGS IMAGES
# The tags 000000, 000001, ... refer to IMAGES different images in turn. Each image has an ENTRYPOINT of its own. That
# of the first image is the command in job_review.json.
import hashlib
import json
import os
import sys


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


class Registry:
    def __init__(self, folder, repository):
        self.blobs = os.path.join(folder, "docker/registry/v2/blobs/sha256")
        self.repository = os.path.join(folder, "docker/registry/v2/repositories", repository)

    def blob(self, data):
        name = hashlib.sha256(data).hexdigest()
        write(os.path.join(self.blobs, name[:2], name, "data"), data)
        return name

    def link(self, where, name):
        write(os.path.join(self.repository, where, "link"), b"sha256:" + name.encode())

    def image(self, entrypoint):
        kind = "application/vnd.oci.image."
        config = json.dumps({
            "architecture": "amd64", "os": "linux",
            "config": {"Env": ["PATH=/usr/local/bin:/usr/bin:/bin"], "Entrypoint": entrypoint, "Cmd": ["--help"]},
            "rootfs": {"type": "layers", "diff_ids": []}}).encode()
        of_config = self.blob(config)
        self.link(f"_layers/sha256/{of_config}", of_config)
        manifest = self.blob(json.dumps({
            "schemaVersion": 2, "mediaType": kind + "manifest.v1+json", "layers": [],
            "config": {"mediaType": kind + "config.v1+json", "size": len(config),
                       "digest": "sha256:" + of_config}}).encode())
        self.link(f"_manifests/revisions/sha256/{manifest}", manifest)
        return manifest


def main():
    folder, repository, tags, images = sys.argv[1:]
    registry = Registry(folder, repository)
    manifests = [registry.image(["/usr/bin/python3", "-m", "reporting.nightly" + (f"_{i}" if i else "")])
                 for i in range(int(images))]
    for tag in range(int(tags)):
        registry.link(f"_manifests/tags/{tag:06d}/current", manifests[tag % len(manifests)])


main()
