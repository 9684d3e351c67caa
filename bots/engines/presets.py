"""The settings of the `local` engine: what may be entered, what stands for an empty field, and the presets.

Imports no torch and no transformers: the web process checks settings too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bots.errors import ConfigError

KINDS = {
    "seq2seq": ("blenderbot", "blenderbot_small"),
    "causal": ("transcript", "dialogpt"),
    "chat": ("chat",),
}
"""Kind of model -> the layouts it can read, the one it gets by itself first (see `layout`)."""


@dataclass(frozen=True)
class Setting:
    """One setting: what stands for an empty field, what may be entered and what it does."""

    default: Any
    type: type
    help: str
    low: float = 0
    high: float = 0
    choices: tuple[str, ...] = ()


SETTINGS: dict[str, Setting] = {
    "preset": Setting("", str, "A named set of settings to start from; whatever else is entered wins."),
    "model": Setting("", str, "A folder on this machine, or a name on the model hub."),
    "kind": Setting("", str, "seq2seq (BlenderBot), causal (GPT-2, DialoGPT) or chat.", choices=tuple(KINDS)),
    "layout": Setting(
        "",
        str,
        "How context and persona are written for the model; empty: by kind.",
        choices=("", *(name for names in KINDS.values() for name in names)),
    ),
    "device": Setting("auto", str, "auto takes the GPU if there is one.", choices=("auto", "cpu", "cuda")),
    "num_beams": Setting(1, int, "Beams of the search; 1 is greedy.", low=1, high=50),
    "length_penalty": Setting(1.0, float, "Above 0 favours long replies among beams.", low=-5, high=5),
    "min_new_tokens": Setting(1, int, "Tokens a reply has at least.", low=0, high=512),
    "max_new_tokens": Setting(60, int, "Tokens a reply has at most.", low=1, high=2048),
    "no_repeat_ngram": Setting(0, int, "No n-gram of this size twice in a reply; 0: off.", low=0, high=10),
    "block_context_ngram": Setting(
        0, int, "No n-gram of this size of the context in a reply; 0: off.", low=0, high=10
    ),
    "do_sample": Setting(False, bool, "Draw each token instead of searching for the best reply."),
    "temperature": Setting(1.0, float, "Below 1 makes draws bolder, above 1 wilder.", low=0.05, high=5),
    "top_p": Setting(1.0, float, "Draw among the likeliest tokens that sum to this.", low=0.01, high=1),
    "seed": Setting(None, int, "Same seed and same context: same draw; empty: a new one.", low=0, high=2**31),
    "system": Setting("", str, "What a chat model is told before the persona."),
    "max_context_tokens": Setting(
        1024, int, "Tokens of context at most, if the model can read so many.", low=16, high=131_072
    ),
    "max_batch": Setting(32, int, "Chats answered together at most.", low=1, high=512),
    "timeout_s": Setting(120.0, float, "Seconds a reply may wait for its turn.", low=0.001, high=3600),
}
"""Every setting a bot of this engine may have. Whatever names no source here is our choice."""

_BST_SEARCH = {
    "num_beams": 10,
    "length_penalty": 0.65,
    "min_new_tokens": 20,
    "no_repeat_ngram": 3,
    "block_context_ngram": 3,
}

PRESETS: dict[str, dict[str, Any]] = {
    "bst_2.7b": {"model": "facebook/blenderbot-3B", "kind": "seq2seq", "layout": "blenderbot", **_BST_SEARCH},
    "bst_400m": {
        "model": "facebook/blenderbot-400M-distill",
        "kind": "seq2seq",
        "layout": "blenderbot",
        **_BST_SEARCH,
    },
    "bst_90m": {
        "model": "facebook/blenderbot_small-90M",
        "kind": "seq2seq",
        "layout": "blenderbot_small",
        **_BST_SEARCH,
    },
    "dialogpt_medium_short": {
        "model": "microsoft/DialoGPT-medium",
        "kind": "causal",
        "layout": "dialogpt",
        **_BST_SEARCH,
        "min_new_tokens": 1,
    },
    "dialogpt_medium_long": {
        "model": "microsoft/DialoGPT-medium",
        "kind": "causal",
        "layout": "dialogpt",
        **_BST_SEARCH,
    },
    "gpt2_large": {
        "model": "openai-community/gpt2-large",
        "kind": "causal",
        "layout": "transcript",
        **_BST_SEARCH,
    },
    "chat": {
        "kind": "chat",
        "layout": "chat",
        "do_sample": True,
        "temperature": 0.7,
        "top_p": 0.9,
        "max_new_tokens": 128,
    },
}
"""Ready-made bots.

`bst_2.7b`: BST 2.7B decoded with beam 10, at least 20 tokens and 3-gram blocking in reply and context (Xu et
al. 2021, "Methods", the baseline). The length penalty is that of the released 400M checkpoint, at most 60
tokens too. `bst_400m`, `bst_90m`: the same search on the smaller released checkpoints (our choice: to try
things out). `dialogpt_medium_short`, `dialogpt_medium_long`: the paper compares DialoGPT without and with a
minimum of 20 tokens (its baselines); that the rest of the search is BST's is our choice, so that only the
model differs. The short one has a minimum of 1, since an empty reply is none. `gpt2_large`: the paper's GPT-2
baseline; search as above and layout are our choice. `chat`: any model with a chat template; name it in
`model`. Drawn, not searched: our choice, as such models are tuned to be drawn from.
"""


def check(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with every default filled in, from those a bot was given.

    Raises ConfigError, with what to change, for an unknown key or a value that cannot be used. What it gives
    back is accepted again and stays the same.
    """
    unknown = sorted(set(config) - set(SETTINGS))
    if unknown:
        raise ConfigError(f"There is no setting {unknown[0]!r}. Settings are: {', '.join(SETTINGS)}.")
    preset = config.get("preset", "")
    if preset != "" and preset not in PRESETS:
        raise ConfigError(f"preset: there is no {preset!r}. Choose one of: {', '.join(PRESETS)}.")
    checked = {name: setting.default for name, setting in SETTINGS.items()}
    checked |= PRESETS.get(preset, {}) | dict(config)
    for name, setting in SETTINGS.items():
        checked[name] = _value(name, setting, checked[name])
    _check_together(checked)
    checked["layout"] = checked["layout"] or KINDS[checked["kind"]][0]
    return checked


def _value(name: str, setting: Setting, value: Any) -> Any:
    if value is None and setting.default is None:
        return None
    if setting.type is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, setting.type) or (isinstance(value, bool) and setting.type is not bool):
        words = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
        raise ConfigError(f"{name}: enter {words[setting.type]}, not {value!r}.")
    if setting.choices and value not in setting.choices and (name != "kind" or value):
        raise ConfigError(
            f"{name}: choose one of: {', '.join(filter(None, setting.choices))}; not {value!r}."
        )
    if (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and not setting.low <= value <= setting.high
    ):
        raise ConfigError(f"{name}: enter a number from {setting.low:g} to {setting.high:g}, not {value!r}.")
    return value.strip() if isinstance(value, str) else value


def _check_together(checked: Mapping[str, Any]) -> None:
    if not checked["kind"]:
        raise ConfigError(f"kind: choose one of: {', '.join(KINDS)}; or choose a preset.")
    if not checked["model"]:
        raise ConfigError("model: enter a folder on this machine or a name on the model hub.")
    layouts = KINDS[checked["kind"]]
    if checked["layout"] and checked["layout"] not in layouts:
        raise ConfigError(f"layout: a {checked['kind']} model reads one of: {', '.join(layouts)}.")
    if checked["min_new_tokens"] > checked["max_new_tokens"]:
        raise ConfigError("min_new_tokens: enter no more than max_new_tokens.")
    if checked["do_sample"] and checked["num_beams"] > 1:
        raise ConfigError("do_sample: draw tokens, or search with num_beams above 1; not both.")
    if checked["system"] and checked["kind"] != "chat":
        raise ConfigError("system: only a chat model can be told something; leave it empty.")
