"""A loaded language model: requests in, replies out, as one batch. torch and transformers start here.

Whatever the checkpoint says about decoding is ignored: a bot's settings are all there is.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bots.engines import layout as layouts
from bots.engines.batching import Result, TooBigError
from bots.errors import EngineError

SMALLEST_CONTEXT = 16
"""Tokens of context below which an answer would be to nothing."""


@dataclass(frozen=True)
class Request:
    """What one chat wants answered, under checked settings."""

    settings: Mapping[str, Any]
    history: tuple[str, ...]
    persona: tuple[str, ...]


class Model:
    """A model in memory. Called with requests of the same settings, it gives a result for each.

    On the CPU it computes in float32, on CUDA in half precision (the checkpoint's own, else float16). A
    greedy or beam reply is the same alone and in any batch, up to rounding: in half precision a near tie can
    fall the other way. A drawn reply with a seed is the same too, since every row has its own source of
    chance.

    Making one raises EngineError in plain words when the model cannot be loaded.
    """

    def __init__(self, name: str, family: str, device: str) -> None:
        self.device = _device(device)
        self.family = family
        self.tokenizer, self.model = _load(name, family, self.device)
        self.positions = _positions(self.model.config, self.tokenizer)
        own = self.model.generation_config
        self.ends = _as_list(own.eos_token_id) or _as_list(self.tokenizer.eos_token_id)
        pads = (own.pad_token_id, self.tokenizer.pad_token_id, *self.ends, 0)
        self.pad: int = next(pad for pad in pads if pad is not None)
        self.start = own.decoder_start_token_id
        self._ends: dict[str, list[int]] = {}
        # `generate` fills whatever is unset from here, and checkpoints bring their own minimum length and
        # beams
        self.model.generation_config = type(own)()

    def __call__(self, requests: Sequence[Request]) -> list[Result]:
        """A result for each request, in their order. Raises TooBigError when memory runs out."""
        settings = requests[0].settings
        limit = self._limit(settings)
        contexts = [self._context(request, limit) for request in requests]
        rows = [context for context in contexts if not isinstance(context, EngineError)]
        answers = iter(self._generate(rows, settings) if rows else [])
        return [Result(error=c) if isinstance(c, EngineError) else next(answers) for c in contexts]

    def _limit(self, settings: Mapping[str, Any]) -> int:
        """Tokens of context that fit. A causal model writes its reply into the same window."""
        window = self.positions - (0 if self.family == "seq2seq" else settings["max_new_tokens"])
        if window < SMALLEST_CONTEXT or settings["max_new_tokens"] >= self.positions:
            raise EngineError(
                f"max_new_tokens is too large for a model of {self.positions} positions.", retry=False
            )
        return min(window, int(settings["max_context_tokens"]))

    def _context(self, request: Request, limit: int) -> list[int] | EngineError:
        settings = request.settings
        try:
            return layouts.encode(
                settings["layout"],
                self.tokenizer,
                request.history,
                request.persona,
                limit=limit,
                system=settings["system"],
            )
        except EngineError as error:
            return error

    def _generate(self, rows: list[list[int]], settings: Mapping[str, Any]) -> list[Result]:
        import torch

        seq2seq = self.family == "seq2seq"
        ids = _padded(rows, self.pad, left=not seq2seq).to(self.device)
        mask = _padded([[1] * len(row) for row in rows], 0, left=not seq2seq).to(self.device)
        skip = 1 if seq2seq else ids.shape[1]  # the start token, or the prompt
        ends = self._ends_of(settings["layout"])
        try:
            with torch.inference_mode():
                output = self.model.generate(
                    input_ids=ids,
                    attention_mask=mask,
                    generation_config=self._search(settings, ends),
                    logits_processor=self._processors(rows, settings, ends, skip),
                )
        except (RuntimeError, MemoryError) as error:
            if not _is_memory(error):
                raise
            if self.device == "cuda":
                torch.cuda.empty_cache()
            raise TooBigError from error
        return [self._result(row, settings["layout"], ends) for row in output[:, skip:].tolist()]

    def _ends_of(self, layout: str) -> list[int]:
        if layout not in self._ends:  # reads the whole vocabulary: once is enough
            self._ends[layout] = [*self.ends, *layouts.stop_tokens(layout, self.tokenizer)]
        return self._ends[layout]

    def _search(self, settings: Mapping[str, Any], ends: list[int]) -> Any:
        make: Any = type(self.model.generation_config)

        beams = {
            "num_beams": settings["num_beams"],
            "length_penalty": settings["length_penalty"],
            "early_stopping": True,  # as ParlAI: done when as many replies are finished as there are beams
        }
        return make(
            **(beams if settings["num_beams"] > 1 else {}),
            do_sample=False,
            min_new_tokens=settings["min_new_tokens"],
            max_new_tokens=settings["max_new_tokens"],
            eos_token_id=ends or None,
            pad_token_id=self.pad,
            decoder_start_token_id=self.start,
        )

    def _processors(
        self, rows: list[list[int]], settings: Mapping[str, Any], ends: list[int], skip: int
    ) -> Any:
        from transformers import LogitsProcessorList, TemperatureLogitsWarper, TopPLogitsWarper

        wanted: list[Any] = []
        if settings["no_repeat_ngram"]:
            wanted.append(BlockReply(settings["no_repeat_ngram"], skip))
        if settings["block_context_ngram"]:
            context = _padded(rows, -1, left=True).to(self.device)
            context = context.repeat_interleave(settings["num_beams"], dim=0)
            wanted.append(BlockContext(settings["block_context_ngram"], skip, context, ends))
        if settings["do_sample"]:
            wanted += [TemperatureLogitsWarper(settings["temperature"]), TopPLogitsWarper(settings["top_p"])]
            wanted.append(Draw(rows, settings["seed"], self.device))
        return LogitsProcessorList(wanted)

    def _result(self, row: list[int], layout: str, ends: list[int]) -> Result:
        length = next((place for place, token in enumerate(row) if token in ends), len(row))
        text = self.tokenizer.decode(row[:length], skip_special_tokens=True)
        return Result(text=layouts.finish(layout, text), tokens=min(length + 1, len(row)))


class BlockReply:
    """No n-gram twice in a reply. ParlAI's `beam_block_ngram`.

    transformers' own counts over prompt, padding and reply alike, so a causal reply would depend on its
    batch; and it works row by row in Python, which beam search on a batch makes slow.
    """

    def __init__(self, size: int, skip: int) -> None:
        self.size, self.skip = size, skip

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        reply = input_ids[:, self.skip :]
        return _block(scores, reply, reply, self.size)


class BlockContext:
    """No n-gram of the context in a reply. ParlAI's `beam_context_block_ngram`.

    Never blocks the end of a reply: every utterance of a context ends, and often alike.
    """

    def __init__(self, size: int, skip: int, context: Any, ends: list[int]) -> None:
        self.size, self.skip, self.context, self.ends = size, skip, context, ends

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        before = scores[:, self.ends].clone()
        scores = _block(scores, self.context, input_ids[:, self.skip :], self.size)
        scores[:, self.ends] = before
        return scores


class Draw:
    """Turns the best token into a drawn one: the largest of scores plus Gumbel noise is a draw from their
    softmax.

    So a row draws from its own source, and the same seed and context give the same reply in whatever batch;
    transformers' sampling has one source for the whole batch.
    """

    def __init__(self, rows: list[list[int]], seed: int | None, device: str) -> None:
        import torch

        self.sources = [torch.Generator(device=device) for _ in rows]
        for row, source in zip(rows, self.sources, strict=True):
            if seed is None:
                source.seed()
            else:  # the context too: with the seed alone every turn of a chat would meet the same noise
                source.manual_seed(zlib.crc32(repr(row).encode(), seed))

    def __call__(self, _input_ids: Any, scores: Any) -> Any:
        import torch

        size = scores.shape[1]
        rows = [torch.rand(size, generator=source, device=scores.device) for source in self.sources]
        return scores - torch.log(-torch.log(torch.stack(rows)))


def _block(scores: Any, text: Any, reply: Any, size: int) -> Any:
    """Scores without the tokens that would complete an n-gram of `text` at the end of `reply`.

    `text` and `reply` have a row for each of `scores`; -1 in `text` is padding.
    """
    if reply.shape[1] < size - 1 or text.shape[1] < size:
        return scores
    last = reply[:, reply.shape[1] - (size - 1) :]
    grams = text.unfold(1, size, 1)
    found = (grams[:, :, :-1] == last[:, None, :]).all(-1) & (grams[:, :, -1] >= 0)
    rows, places = found.nonzero(as_tuple=True)
    scores[rows, grams[rows, places, -1]] = float("-inf")
    return scores


def _padded(rows: list[list[int]], pad: int, *, left: bool) -> Any:
    import torch

    width = max(map(len, rows))
    filled = [[pad] * (width - len(row)) + row if left else row + [pad] * (width - len(row)) for row in rows]
    return torch.tensor(filled, dtype=torch.long)


def _device(wanted: str) -> str:
    import torch

    there = torch.cuda.is_available()
    if wanted == "cuda" and not there:
        raise EngineError(
            "This machine has no GPU that torch can use. Set device to auto or cpu.", retry=False
        )
    return "cuda" if there and wanted != "cpu" else "cpu"


def _load(name: str, family: str, device: str) -> tuple[Any, Any]:
    """Tokenizer and model. Takes safetensors where the model has them; else a pickle read for weights only,
    which is transformers' way and runs no code of the file's. Code of the model's maker is never run.
    """
    import transformers

    _quiet(transformers.utils.logging)
    path = Path(name).expanduser()
    if not path.is_dir() and (name.startswith(("/", ".", "~")) or name.count("/") > 1):
        raise EngineError(f"There is no folder {name} on this machine.", retry=False)
    place = str(path) if path.is_dir() else name
    try:
        config = transformers.AutoConfig.from_pretrained(place, trust_remote_code=False)
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, trust_remote_code=False)
        return tokenizer, _weights(place, config, family, device)
    except Exception as error:  # a wrong file can make the readers raise anything
        raise EngineError(_why(name, family, error, folder=path.is_dir()), retry=False) from error


def _quiet(logging: Any) -> None:
    logging.disable_progress_bar()  # a worker's log is no terminal


def _weights(place: str, config: Any, family: str, device: str) -> Any:
    import transformers

    if config.is_encoder_decoder != (family == "seq2seq"):
        raise ValueError("it is of another kind")
    autos = {"seq2seq": transformers.AutoModelForSeq2SeqLM, "causal": transformers.AutoModelForCausalLM}
    model, report = autos[family].from_pretrained(
        place,
        config=config,
        dtype=_dtype(config, device),
        trust_remote_code=False,
        use_safetensors=None,
        output_loading_info=True,
    )
    if report["missing_keys"]:  # transformers would fill them with chance and let the bot babble
        raise ValueError(f"weights are missing: {', '.join(sorted(report['missing_keys'])[:3])}")
    return model.to(device).eval()


def _dtype(config: Any, device: str) -> Any:
    import torch

    if device == "cpu":
        return torch.float32
    return config.dtype if config.dtype in (torch.float16, torch.bfloat16) else torch.float16


def _why(name: str, family: str, error: Exception, *, folder: bool) -> str:
    said = " ".join(str(error).split())
    if _is_memory(error):
        return f"There is not enough memory to load {name}."
    if folder:
        return f"The folder {name} does not hold a {family} model that can be read: {said}"[:300]
    if isinstance(error, OSError):
        return f"{name} is neither a folder here nor a model that the hub gave: {said}"[:300]
    return f"{name} could not be loaded as a {family} model: {type(error).__name__}: {said}"[:300]


def _is_memory(error: Exception) -> bool:
    import torch

    known = isinstance(error, (MemoryError, torch.OutOfMemoryError))
    return known or (isinstance(error, RuntimeError) and "can't allocate memory" in str(error))


def _positions(config: Any, tokenizer: Any) -> int:
    """Tokens the model can read; some name no number, and some tokenizers name one as large as a float."""
    stated = getattr(config, "max_position_embeddings", None) or tokenizer.model_max_length
    return min(int(stated), 131_072)


def _as_list(value: int | list[int] | None) -> list[int]:
    return value if isinstance(value, list) else [] if value is None else [value]
