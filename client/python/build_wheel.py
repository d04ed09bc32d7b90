"""Builds the package with the standard library alone, so that it installs without a network.

pip calls this as pyproject.toml says (PEP 517). A wheel is a zip of the package and of what it is;
nothing is left beside the sources.
"""

from __future__ import annotations

import base64
import hashlib
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Dict, Optional

HERE = Path(__file__).parent
PACKAGE = "scripdesk_client"


def build_wheel(
    wheel_directory: str,
    config_settings: Optional[Dict[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    info = f"{_read_title()}.dist-info"
    wheel = "Wheel-Version: 1.0\nGenerator: build_wheel.py\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {
        **{f"{PACKAGE}/{path.name}": path.read_bytes() for path in _list_sources()},
        f"{info}/METADATA": _write_metadata().encode(),
        f"{info}/WHEEL": wheel.encode(),
    }
    rows = [f"{name},sha256={_hash(content)},{len(content)}" for name, content in files.items()]
    record = "\n".join([*rows, f"{info}/RECORD,,", ""])
    name = f"{_read_title()}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in {**files, f"{info}/RECORD": record.encode()}.items():
            archive.writestr(path, content)
    return name


def build_sdist(sdist_directory: str, config_settings: Optional[Dict[str, Any]] = None) -> str:
    name = f"{_read_title()}.tar.gz"
    own = [HERE / one for one in ("build_wheel.py", "pyproject.toml", "README.md")]
    with tarfile.open(Path(sdist_directory) / name, "w:gz") as archive:
        for path in [*own, *_list_sources()]:
            archive.add(path, f"{_read_title()}/{path.relative_to(HERE)}")
    return name


def _list_sources() -> list[Path]:
    return sorted(path for path in (HERE / PACKAGE).iterdir() if path.suffix in (".py", ".typed"))


def _read_title() -> str:
    return f"{PACKAGE}-{_read_field('version')}"


def _write_metadata() -> str:
    return (
        "Metadata-Version: 2.1\n"
        f"Name: {_read_field('name')}\n"
        f"Version: {_read_field('version')}\n"
        f"Summary: {_read_field('description')}\n"
        f"Requires-Python: {_read_field('requires-python')}\n"
        "License: Apache-2.0\n"
    )


def _read_field(name: str) -> str:
    # Python 3.10 has no reader of TOML.
    found = re.search(rf'^{name} = "(.*)"$', (HERE / "pyproject.toml").read_text(), re.MULTILINE)
    if found is None:
        raise ValueError(f"pyproject.toml has no {name}")
    return found.group(1)


def _hash(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
