"""Arrays of numbers in the safetensors format (github.com/huggingface/safetensors), by the standard library alone.

Eight bytes of length, a JSON header, then the numbers, little-endian. That is all there is to it, so that a process
which only judges turns needs neither numpy nor the package.
"""

import json
import sys
from array import array
from collections.abc import Mapping
from math import prod
from pathlib import Path

from bots.safety.errors import ModelError


def write(path: Path, tensors: Mapping[str, tuple[tuple[int, ...], "array[float]"]]) -> None:
    """Name -> (shape, numbers, row by row), stored as 32-bit floats."""
    header: dict[str, object] = {}
    start = 0
    for name, (shape, numbers) in tensors.items():
        if prod(shape) != len(numbers):
            raise ValueError(f"{name}: {len(numbers)} numbers do not fill the shape {shape}.")
        end = start + 4 * len(numbers)
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [start, end]}
        start = end
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    with path.open("wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        for _, numbers in tensors.values():
            file.write(_little_endian(array("f", numbers)).tobytes())


def read(path: Path) -> dict[str, tuple[tuple[int, ...], "array[float]"]]:
    """What `write` wrote. Raises ModelError for a file that is not that."""
    try:
        raw = path.read_bytes()
        length = int.from_bytes(raw[:8], "little")
        if len(raw) < 8 + length:
            raise ModelError(f"{path} is cut off.")
        header = json.loads(raw[8 : 8 + length])
        found = {}
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            start, end = entry["data_offsets"]
            numbers = array("f")
            numbers.frombytes(raw[8 + length + start : 8 + length + end])
            if entry["dtype"] != "F32" or len(numbers) != prod(entry["shape"]):
                raise ModelError(f"{path}: {name} is not what its header says.")
            found[name] = tuple(entry["shape"]), _little_endian(numbers)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path} cannot be read: {error}") from error
    return found


def _little_endian(numbers: "array[float]") -> "array[float]":
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
