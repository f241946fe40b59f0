# SPDX-License-Identifier: Apache-2.0
"""What all runs of one campaign share: the programs, and certificates of a temporary authority."""
import os
import pathlib
import shutil
import subprocess
import tempfile

NAMES = "subjectAltName=IP:127.0.0.1"
KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_authority(folder, name):
    openssl("req", "-x509", *KEY, "-days", 2, "-subj", f"/CN={name}", "-keyout", folder / f"{name}.key",
            "-out", folder / f"{name}.pem")


def make_certificate(folder, name, authority):
    request, names = folder / f"{name}.csr", folder / "names"
    names.write_text(NAMES + "\n")
    openssl("req", *KEY, "-subj", f"/CN={name}", "-keyout", folder / f"{name}.key", "-out", request)
    openssl("x509", "-req", "-in", request, "-CA", folder / f"{authority}.pem", "-CAkey", folder / f"{authority}.key",
            "-CAcreateserial", "-days", 2, "-extfile", names, "-out", folder / f"{name}.pem")


def make(wrapper, programs):
    """A new folder that every user can read. A contender of another user runs the copies in it."""
    stage = pathlib.Path(tempfile.mkdtemp(prefix="cronlatch-chaos-"))
    stage.chmod(0o755)
    shutil.copy(wrapper, stage / "wrapper")
    (stage / "wrapper").chmod(0o755)
    for name in ("command", "clock.so"):
        shutil.copy(programs / name, stage / name)
    tls = stage / "tls"
    tls.mkdir()
    # `rotated` replaces the certificate like a renewal does; `foreign` is of an authority that no contender trusts.
    make_authority(tls, "ca")
    make_authority(tls, "stranger")
    for name, authority in (("good", "ca"), ("rotated", "ca"), ("foreign", "stranger")):
        make_certificate(tls, name, authority)
    return stage


def missing_rights():
    """The kinds of contenders that cannot run here."""
    attempts = {"first": ["unshare", "--pid", "--fork", "--mount-proc", "true"],
                "user": ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "true"]}
    return [kind for kind, words in attempts.items()
            if subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode != 0]


def remove(stage):
    shutil.rmtree(stage, ignore_errors=True)


def is_busy():
    return os.getloadavg()[0] > 4 * len(os.sched_getaffinity(0))
