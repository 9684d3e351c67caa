"""Fine-tuning of any transformers encoder as a classifier, and the making of one from nothing."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bots.safety import loop
from bots.safety.encoder import Encoder, Writer, device_of
from bots.safety.errors import ModelError
from bots.safety.presets import MAX_TOKENS, SHAPES, Shape
from bots.safety.turns import Example, Progress

Score = Callable[[Encoder], float]


def fit(
    base: str,
    examples: Sequence[Example],
    weights: Sequence[float],
    labels: Sequence[str],
    *,
    context: int,
    max_tokens: int,
    plan: loop.Plan,
    score: Score,
    folder: Path,
    fingerprint: str,
    progress: Progress,
) -> Encoder:
    """The encoder `base` (a folder, a name on the hub, or one of SHAPES: then from nothing), fine-tuned.

    `score` says how good a model is on the validation rows; training stops when it gets no better, and the best epoch
    is what is kept. Checkpoints are in `folder`. Raises ModelError if the base cannot be used.
    """
    import torch

    device = own_device()
    torch.manual_seed(plan.seed)  # the new layer on top begins at random
    model, tokenizer = _start(base, [example.text for example in examples], labels)
    writer = Writer(tokenizer, context, min(max_tokens, tokens_of(model, tokenizer)))
    tokenizer.model_max_length = writer.limit
    progress(f"{len(examples)} rows, {sum(p.numel() for p in model.parameters()):,} parameters, on {device}")
    rows = writer.rows(examples)
    known = {label: number for number, label in enumerate(labels)}
    targets = [known[example.label] for example in examples]

    def loss(outer: Any, places: Sequence[int]) -> Any:
        batch = writer.batch([rows[place] for place in places], device)
        wanted = torch.tensor([targets[place] for place in places]).to(device)
        with torch.autocast("cuda", torch.bfloat16, enabled=device.startswith("cuda")):
            logits = outer(**batch).logits
        return torch.nn.functional.cross_entropy(logits.float(), wanted)

    made = Encoder(model, writer, labels, device)
    task = loop.Task(loss, lambda _: score(made), [len(ids) for ids, _ in rows], weights)
    loop.train(model, task, plan, folder, fingerprint=fingerprint, device=device, progress=progress)
    return made


def save(made: Encoder, folder: Path) -> None:
    """Writes model and tokenizer as transformers reads them: safetensors and JSON."""
    made.model.save_pretrained(folder)
    made.writer.tokenizer.save_pretrained(folder)


def _start(base: str, texts: Sequence[str], labels: Sequence[str]) -> tuple[Any, Any]:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, BertForSequenceClassification

    names = {"id2label": dict(enumerate(labels)), "label2id": {label: n for n, label in enumerate(labels)}}
    if base in SHAPES:
        tokenizer = make_tokenizer(texts, SHAPES[base])
        return BertForSequenceClassification(make_config(SHAPES[base], tokenizer, **names)), tokenizer
    try:
        tokenizer = AutoTokenizer.from_pretrained(base)
        model = AutoModelForSequenceClassification.from_pretrained(
            base, use_safetensors=True, ignore_mismatched_sizes=True, **names
        )
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise ModelError(f"The base {base} cannot be loaded: {str(error)[:300]}") from error
    return model.float(), tokenizer


def make_config(shape: Shape, tokenizer: Any, **more: Any) -> Any:
    """The configuration of a BERT encoder of this shape."""
    from transformers import BertConfig

    return BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.inner,
        max_position_embeddings=shape.positions,
        pad_token_id=tokenizer.pad_token_id,
        **more,
    )


def make_tokenizer(texts: Sequence[str], shape: Shape) -> Any:
    """A byte-level BPE learned from `texts`, with BERT's separators. The same texts give the same one."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    every = [*special.values(), "[MASK]"]
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel()
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=shape.vocabulary,
            special_tokens=every,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", every.index("[CLS]")), ("[SEP]", every.index("[SEP]"))],
    )
    fast: Any = PreTrainedTokenizerFast
    return fast(
        tokenizer_object=made,
        mask_token="[MASK]",  # noqa: S106 a token of the vocabulary, no secret
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        model_max_length=shape.positions,
        **special,
    )


def tokens_of(model: Any, tokenizer: Any) -> int:
    """The most tokens that a model can read: what its positions and its tokenizer allow."""
    positions = getattr(model.config, "max_position_embeddings", None) or MAX_TOKENS
    if "roberta" in model.config.model_type or model.config.model_type == "camembert":
        positions -= (
            model.config.pad_token_id + 1
        )  # its positions are counted from behind the padding's number
    return int(min(positions, tokenizer.model_max_length))


def own_device() -> str:
    """The device of this process: with torchrun, each has its own GPU."""
    import torch

    device = device_of()
    if device == "cuda" and loop.world() > 1:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    return device
