"""What can go wrong between a history and a reply."""


class ConfigError(ValueError):
    """A bot's settings cannot be used. The message says which, why, and what to enter instead."""


class EngineError(Exception):
    """An engine gave no reply. `retry` says whether asking again could help.

    The message is for the researcher: plain words, no secret, at most a line.
    """

    def __init__(self, message: str, *, retry: bool = True) -> None:
        super().__init__(message)
        self.retry = retry
