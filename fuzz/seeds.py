"""Seeds are lines of text, so that they can be read and reviewed; libFuzzer wants files.

expand TARGET: writes each line of seeds/TARGET.txt and seeds/TARGET.found.txt into corpus/TARGET.
keep TARGET: writes the short files of corpus/TARGET.least into seeds/TARGET.found.txt.

In a line a backslash is followed by n, r, t, 0, another backslash, or x and two digits.
"""

import hashlib
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
KEPT_BYTES_MAX = 300
KEPT_MAX = 80
NAMES = {"n": 10, "r": 13, "t": 9, "0": 0, "\\": 92}


def decoded(line):
    def one(found):
        code = found[1]
        return bytes([int(code[1:], 16) if code[0] == ord("x") else NAMES[chr(code[0])]])

    return re.sub(rb"\\(x[0-9a-f]{2}|[nrt0\\])", one, line)


def encoded(data):
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    names = {code: "\\" + name for name, code in NAMES.items()}
    if text is not None:
        return "".join(names.get(ord(c)) or (c if c.isprintable() else hexed(c.encode())) for c in text)
    return "".join(names.get(b) or (chr(b) if 32 <= b < 127 else hexed([b])) for b in data)


def hexed(data):
    return "".join(f"\\x{byte:02x}" for byte in data)


def expand(target):
    for path in HERE.glob(f"seeds/{target}*.txt"):
        if path.name not in (f"{target}.txt", f"{target}.found.txt"):
            continue
        for line in path.read_bytes().split(b"\n"):
            if line:
                data = decoded(line)
                name = hashlib.sha1(data).hexdigest()
                (HERE / "corpus" / target / name).write_bytes(data)


def keep(target):
    files = sorted((HERE / "corpus" / f"{target}.least").iterdir())
    found = [data for data in (file.read_bytes() for file in files) if 0 < len(data) <= KEPT_BYTES_MAX]
    found.sort(key=lambda data: (len(data), data))
    step = max(1, -(-len(found) // KEPT_MAX))
    lines = [encoded(data) + "\n" for data in found[::step]]
    (HERE / "seeds" / f"{target}.found.txt").write_text("".join(lines))


{"expand": expand, "keep": keep}[sys.argv[1]](sys.argv[2])
