"""All checkers over a corpus, in one pass or two; memory does not grow with it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from bots.checkers import issues
from bots.checkers.corpus import Speaker, Utterance
from bots.checkers.results import Check, Finding, SettingError
from bots.checkers.words import Language


@dataclass(frozen=True, slots=True)
class Examined:
    """The findings by issue, and how much was read."""

    findings: dict[str, Finding]
    dialogues: int
    utterances: dict[Speaker, int]


def modules() -> dict[str, ModuleType]:
    """Every checker by its name, which is that of its file in `bots/checkers/issues`."""
    names = sorted(info.name for info in iter_modules(issues.__path__))
    return {name: import_module(f"{issues.__name__}.{name}") for name in names}


def choose(names: Sequence[str] = ()) -> dict[str, ModuleType]:
    """A checker for every issue, by the issue: those named, else the preferred. Raises SettingError for no name."""
    known = modules()
    if unknown := [name for name in names if name not in known]:
        raise SettingError(f"There is no checker {unknown[0]!r}. There are: {', '.join(known)}.")
    chosen: dict[str, ModuleType] = {}
    for name, module in known.items():
        rank = (name in names, getattr(module, "PREFERRED", False))
        held = chosen.get(module.ISSUE)
        if held is None or rank > (
            held.__name__.rpartition(".")[2] in names,
            getattr(held, "PREFERRED", False),
        ):
            chosen[module.ISSUE] = module
    return dict(sorted(chosen.items()))


def make(
    names: Sequence[str] = (), settings: Mapping[str, Mapping[str, str]] | None = None
) -> dict[str, Check]:
    """The chosen checkers, ready, by issue; `settings` by the checker's name. Raises SettingError."""
    chosen = choose(names)
    given = dict(settings or {})
    by_name = {module.__name__.rpartition(".")[2]: issue for issue, module in chosen.items()}
    if unused := sorted(set(given) - set(by_name)):
        raise SettingError(f"The checker {unused[0]!r} is not used here. Used: {', '.join(sorted(by_name))}.")
    return {issue: chosen[issue].Check(given.get(name, {})) for name, issue in by_name.items()}


def examine(
    read: Callable[[], Iterable[Utterance]],
    names: Sequence[str] = (),
    settings: Mapping[str, Mapping[str, str]] | None = None,
) -> Examined:
    """What the checkers find in the utterances that `read()` gives; it is called twice where one looks first.

    Where the words of a side are surely not English, its part is no score: the finding says "cannot_judge".
    Raises SettingError, and whatever `read` raises.
    """
    checks = make(names, settings)
    lookers = [check for check in checks.values() if check.looks_first]
    if lookers:
        for utterance in read():
            for check in lookers:
                check.look(utterance)
    languages: dict[Speaker, Language] = {"bot": Language(), "human": Language()}
    counts: dict[Speaker, int] = {"bot": 0, "human": 0}
    dialogues = 0
    for utterance, begins in _marked(read()):
        dialogues += begins
        counts[utterance.speaker] += 1
        languages[utterance.speaker].see(utterance.text)
        for check in checks.values():
            check.see(utterance)
    findings = {issue: _settled(check.finding(), languages) for issue, check in checks.items()}
    return Examined(dict(sorted(findings.items())), dialogues, counts)


def _marked(utterances: Iterable[Utterance]) -> Iterator[tuple[Utterance, bool]]:
    """Each utterance, and whether it is the first of its dialogue."""
    before = None
    for utterance in utterances:
        yield utterance, utterance.dialogue != before
        before = utterance.dialogue


def _settled(finding: Finding, languages: Mapping[Speaker, Language]) -> Finding:
    """The finding, or "cannot_judge" where the bot said nothing that can be judged, and in English only."""
    if finding.state != "tested":
        return finding
    if languages["human"].foreign and finding.user is not None:
        finding = replace(finding, user=None)
    if languages["bot"].foreign:
        return replace(
            finding, state="cannot_judge", why="What the bot says does not look like English.", bot=None
        )
    part = finding.bot
    if part is None or part.score is None:
        return replace(finding, state="cannot_judge", why="There is no bot utterance that can be judged.")
    if part.refused > part.judged:
        why = f"{part.refused} of {part.refused + part.judged} bot utterances cannot be judged."
        return replace(finding, state="cannot_judge", why=why)
    return finding
