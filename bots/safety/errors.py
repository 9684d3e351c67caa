"""What can be wrong with data and with model folders."""

from pathlib import Path


class DataError(ValueError):
    """A file cannot be used: which one, where in it, and why. Whoever reads it trains on nothing then."""

    def __init__(self, path: Path, where: int | str, reason: str) -> None:
        place = f", line {where}" if isinstance(where, int) else f", {where}" if where else ""
        super().__init__(f"{path}{place}: {reason}")
        self.path, self.where, self.reason = path, where, reason


class ModelError(ValueError):
    """A folder holds no classifier that can be used. The message says why and what to do."""
