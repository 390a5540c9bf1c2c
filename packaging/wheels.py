#!/usr/bin/env python3
"""Makes the wheels of a release from its archives: one for each platform, with the programs as scripts. Standard library only.

  packaging/wheels.py ARCHIVES [OUTPUT]

  ARCHIVES  the folder of checkpointd-TARGET.tar.gz, as packaging/archive.sh writes them
  OUTPUT    the folder for the wheels; default: target/wheels
"""

import base64
import hashlib
import pathlib
import re
import sys
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The programs for Linux are linked statically, so they run with any C library.
PLATFORMS = {
    "x86_64-unknown-linux-musl": "manylinux_2_17_x86_64.musllinux_1_1_x86_64",
    "aarch64-unknown-linux-musl": "manylinux_2_17_aarch64.musllinux_1_1_aarch64",
    "x86_64-apple-darwin": "macosx_10_12_x86_64",
    "aarch64-apple-darwin": "macosx_11_0_arm64",
}
PROGRAMS = ["checkpointd", "checkpointd-hook", "checkpointd-fleet"]
LICENSES = ["LICENSE-APACHE", "LICENSE-MIT"]


def metadata(version: str) -> str:
    fields = f"""\
Metadata-Version: 2.4
Name: checkpointd
Version: {version}
Summary: Debriefs AI coding agents when they stop
License-Expression: MIT OR Apache-2.0
{"".join(f"License-File: {name}{chr(10)}" for name in LICENSES)}\
Project-URL: Homepage, https://github.com/checkpointd/checkpointd
Requires-Python: >=3.8
Description-Content-Type: text/markdown
"""
    # On PyPI, links of the README lead nowhere unless they are whole.
    readme = (ROOT / "README.md").read_text()
    readme = re.sub(r"\]\((?!https?:|#)", "](https://github.com/checkpointd/checkpointd/blob/main/", readme)
    return f"{fields}\n{readme}"


def wheel(archive: pathlib.Path, version: str, output: pathlib.Path) -> pathlib.Path:
    target = archive.name.removeprefix("checkpointd-").removesuffix(".tar.gz")
    if target not in PLATFORMS:
        sys.exit(f"error: wheels have no name for the platform of {archive}")
    name, info = f"checkpointd-{version}", f"checkpointd-{version}.dist-info"
    tags = [f"Tag: py3-none-{tag}" for tag in PLATFORMS[target].split(".")]
    about = ["Wheel-Version: 1.0", "Generator: checkpointd", "Root-Is-Purelib: false", *tags]
    with tarfile.open(archive) as packed:
        files = {
            f"{name}.data/scripts/{program}": packed.extractfile(f"checkpointd-{target}/{program}").read()
            for program in PROGRAMS
        }
    files[f"{info}/METADATA"] = metadata(version).encode()
    files[f"{info}/WHEEL"] = ("\n".join(about) + "\n").encode()
    for one in LICENSES:
        files[f"{info}/licenses/{one}"] = (ROOT / one).read_bytes()
    rows = []
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(data)}")
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
    made = output / f"{name}-py3-none-{PLATFORMS[target]}.whl"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
        for path, data in files.items():
            # A fixed time, so that the same programs make the same wheel.
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if ".data/scripts/" in path else 0o100644) << 16
            out.writestr(entry, data)
    return made


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: packaging/wheels.py ARCHIVES [OUTPUT]")
    output = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "target/wheels")
    output.mkdir(parents=True, exist_ok=True)
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    archives = sorted(pathlib.Path(sys.argv[1]).glob("checkpointd-*.tar.gz"))
    if not archives:
        sys.exit(f"error: {sys.argv[1]} has no archives")
    for archive in archives:
        print(wheel(archive, version, output))


if __name__ == "__main__":
    main()
