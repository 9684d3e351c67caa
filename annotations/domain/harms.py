"""Kinds of harm that a text's words point to, so that people can be spared what they would rather not read.

A word list and nothing more: it misses what is said without the words and finds words that harm nobody. Our own
short list, since it decides only who is given a message; no label, vote or figure rests on it.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of harm: its bit in a mask, its name, and what to say of it."""

    bit: int
    name: str
    title: str
    gloss: str


KINDS = (
    Kind(1, "slurs", "Slurs", "Words that insult people for what they are: origin, faith, sex, disability."),
    Kind(2, "sexual", "Sex", "Sexual acts, bodies and assault, in plain words."),
    Kind(4, "violence", "Violence", "Killing, weapons, beating and torture."),
    Kind(8, "self-harm", "Self-harm", "Suicide, hurting oneself, eating disorders."),
    Kind(16, "profanity", "Swearing", "Strong swear words, at people or at nobody."),
)
ALL = sum(kind.bit for kind in KINDS)

# A stem ends in -: whatever follows in the same word. A hyphen inside is the space between two words.
_WORDS = {
    "slurs": """
        nigger- nigga- negro negroes coon coons darkie- darky kike- chink chinks chinky gook gooks spic spics
        wetback- beaner- raghead- towelhead- camel-jockey sandnigger- paki pakis gypo gyppo pikey- redskin-
        squaw- halfbreed half-breed- jap japs nip nips cracker-ass honky whitey fag fags faggot- dyke dykes
        homo homos tranny trannies shemale- lesbo- retard retards retarded spastic- spaz mongoloid- cripple
        cripples midget midgets subhuman- untermensch- bitch bitches whore- slut- skank- cunt cunts
    """,
    "sexual": """
        sex sexual sexy sexually rape raped rapes raping rapist- molest- incest- pedo pedos pedophil- paedophil-
        porn- nude nudes naked blowjob- handjob- anal anus cum cumming cumshot- orgasm- masturbat- jerk-off
        jerking-off penis- vagina- pussy pussies dick dicks cock cocks boob boobs tits titties horny erection-
        hooker- prostitut- grop- gangbang- threesome- dildo- fetish- nipple- genital-
        sodom- bestialit- zoophil- necrophil- sex-toy- sexual-assault- groomed
    """,
    "violence": """
        kill kills killed killing killer- murder- slaughter- massacre- genocid- holocaust- lynch- behead-
        decapitat- stab stabs stabbed stabbing strangl- chok- tortur- maim-
        mutilat- dismember- shoot shooting shootings shot-dead gun guns rifle- bomb bombs bombed bombing-
        bomber- terroris- terror-attack- assassinat- execut- beat-up beat-you
        beat-her beat-him beat-them beaten-up beating-up punch punched punching- blood bloody bloodbath- gore
        gory corpse- dead-bod- burn-them burn-you gas-the gas-chamber- hang-them hang-him hang-her knife knives
        violence violent- abuse abused abuses abusing abusive bludgeon- curb-stomp- drown-him drown-her
    """,
    "self-harm": """
        suicid- kill-myself killing-myself kill-yourself kill-urself kys killing-yourself hang-myself
        hang-yourself self-harm- selfharm- cut-myself cutting-myself cut-yourself cut-my-wrist- slit-my-
        slit-your-wrist- hurt-myself harm-myself hurt-yourself harm-yourself end-my-life ending-my-life
        end-your-life take-my-own-life want-to-die wanna-die better-off-dead overdos- anorexi- bulimi-
        starve-myself starving-myself purging
    """,
    "profanity": """
        fuck- fuk fucc- motherfuck- mofo- shit shits shitt- bullshit- horseshit- dipshit- shithead- shithole-
        shitface- ass asses asshole- arse arsehole- arses dumbass- jackass- badass- smartass- bastard- bitch-
        damn damned dammit goddamn- cunt- piss pissed pissing prick pricks dickhead- cocksuck- wank- twat-
        bollock- bugger- crap crappy douche- jerkoff- wtf stfu
    """,
}


def _listed() -> Iterator[tuple[str, int]]:
    for kind in KINDS:
        for word in set(_WORDS[kind.name].split()):
            yield word, kind.bit


def _masks(words: Iterable[tuple[str, int]]) -> dict[str, int]:
    masks: dict[str, int] = {}
    for word, bit in words:
        masks[word] = masks.get(word, 0) | bit
    return masks


_WHOLE = _masks((word, bit) for word, bit in _listed() if "-" not in word)
_STEMS = _masks((word[:-1], bit) for word, bit in _listed() if word.find("-") == len(word) - 1)
_PHRASES = _masks(
    (f" {word.removesuffix('-').replace('-', ' ')}" + ("" if word.endswith("-") else " "), bit)
    for word, bit in _listed()
    if "-" in word[:-1]
)
_SHORTEST, _LONGEST = min(map(len, _STEMS)), max(map(len, _STEMS))
_WORD = re.compile(r"[^\W_]+")
# Letters put in the place of others to get round such lists.
_DISGUISES = str.maketrans({"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s"})


def kinds_of(texts: Iterable[str]) -> int:
    """The kinds of harm that any of the texts points to, as a sum of bits of KINDS; 0 for none."""
    found = 0
    for text in texts:
        plain = text.casefold()
        found |= _kinds(plain) | _kinds(plain.translate(_DISGUISES))
    return found


def _kinds(plain: str) -> int:
    words = _WORD.findall(plain)
    spaced = f" {' '.join(words)} "
    found = 0
    for phrase, mask in _PHRASES.items():
        if phrase in spaced:
            found |= mask
    for word in words:
        found |= _WHOLE.get(word, 0)
        for length in range(_SHORTEST, min(len(word), _LONGEST) + 1):
            found |= _STEMS.get(word[:length], 0)
    return found
