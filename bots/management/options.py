"""Options that several commands share."""

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Any

from bots.errors import ConfigError
from bots.safety.loop import OPTIMIZERS, Plan


def add_plan(parser: ArgumentParser) -> None:
    """How to train a model by gradient descent."""
    usual = Plan()
    parser.add_argument("--epochs", type=int, default=usual.epochs)
    parser.add_argument("--batch", type=int, default=usual.batch)
    parser.add_argument("--rate", type=float, default=usual.rate, help="learning rate")
    parser.add_argument("--warmup", type=int, default=usual.warmup, help="steps, a tenth of all at most")
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default=usual.optimizer)
    parser.add_argument("--patience", type=int, default=usual.patience, help="epochs without getting better")
    parser.add_argument("--every", type=int, default=usual.every, help="steps between checkpoints")
    parser.add_argument("--seed", type=int, default=usual.seed)


def plan_of(options: Mapping[str, Any]) -> Plan:
    """The plan that was asked for. Raises ConfigError for what cannot be."""
    return Plan(**{name: options[name] for name in Plan.__dataclass_fields__})


def named_numbers(words: Sequence[str], default: str = "") -> dict[str, float]:
    """`NAME=NUMBER` words as a mapping; a number alone is that of `default`, if there is one. Raises ConfigError."""
    found: dict[str, float] = {}
    for word in words:
        name, _, number = word.rpartition("=")
        try:
            found[name or default] = float(number)
        except ValueError as error:
            raise ConfigError(f"{word}: this must be NAME=NUMBER.") from error
    if "" in found:
        raise ConfigError(f"{words[0]}: this must be NAME=NUMBER.")
    return found
