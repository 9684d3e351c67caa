from itertools import chain

import pytest

from bots.engines import eliza
from bots.engines.eliza_script import Script, load, parse
from bots.errors import ConfigError
from bots.models import Bot
from bots.replies import reply

CONVERSATION = [
    "Hello",
    "My mother hates all immigrants.",
    "Bananas",
    "I'm sad about it",
    "You are like my father in some ways",
    "Everybody laughs at me",
    "Bananas",
]
HOSTILE = {
    "brackets": "(" * 2000,
    "short words": "a " * 1000,
    "one word": "a" * 2000,
    "keywords": "i am " * 400,
    "echoes": "my mother " * 200,
    "commas": "," * 2000,
    "right-to-left marks": "\u200f" * 2000,
    "overrides": "\u202eabc\u2066" * 400,
    "scripts of the world": "Ж中🙂ह" * 500,
    "a lone surrogate": "my \ud800 " * 300,
    "zero bytes": "\0" * 2000,
    "parts": "(1) (2) (9) {0} %s " * 100,
    "nothing": "",
}


def said(*messages: str) -> str:
    """Eliza's reply to the last of the messages of one chat."""
    return replies(*messages)[-1]


def replies(*messages: str) -> list[str]:
    history: list[str] = []
    for message in messages:
        history.append(message)
        history.append(eliza.reply({}, history, ()))
    return history[1::2]


def answers(script: Script, *messages: str) -> list[str]:
    chat = eliza.Chat(script)
    return [eliza.answer(chat, message) for message in messages]


def script(text: str) -> Script:
    return parse(f"opening\n    Hello.\nnone\n    None.\nwords starts\nwords plural\n{text}")


def test_what_the_person_says_comes_back() -> None:
    assert said("My mother hates all immigrants") == "You say that your mother hates all immigrants."


def test_what_the_person_hates_comes_back() -> None:
    assert said("I hate immigrants!") == "What is it about immigrants that you hate?"


def test_a_conversation_of_seven_turns() -> None:
    assert replies(*CONVERSATION) == [
        "Hello. What would you like to talk about?",
        "You say that your mother hates all immigrants.",
        "How does that fit with what you said before: your mother hates all immigrants?",
        "It cannot be easy to be sad about it.",
        "In what respect?",
        "Can you think of somebody in particular, when you say that everybody laughs at you?",
        "I am not sure that I follow. Can you put it another way?",
    ]


def test_through_the_door_of_the_bots() -> None:
    bot = Bot(engine="eliza", slug="x", config={})

    answer = reply(bot, CONVERSATION[:1])

    assert (answer.text, answer.engine) == ("Hello. What would you like to talk about?", "eliza")


def test_without_a_history_she_opens() -> None:
    assert eliza.reply({}, [], ()) == "Hello. What would you like to talk about?"


def test_reassemblies_take_turns_and_start_again() -> None:
    found = answers(script("key a 0\n  0\n    One.\n    Two.\n    Three.\n"), "a", "a", "a", "a")

    assert found == ["One.", "Two.", "Three.", "One."]


def test_each_decomposition_has_its_own_turn() -> None:
    found = answers(
        script("key a 0\n  a b\n    One.\n    Two.\n  0\n    Three.\n    Four.\n"), "a b", "a", "a b", "a"
    )

    assert found == ["One.", "Three.", "Two.", "Four."]


def test_the_highest_rank_wins() -> None:
    assert said("My computer is sad") == "Do machines make you uneasy?"


def test_of_equal_ranks_the_first_wins() -> None:
    assert said("Sorry because of that") == "There is no need to be sorry."
    assert said("Because of that I am sorry") == "Is that the only reason?"


def test_a_keyword_goes_on_top_only_above_the_top_else_to_the_bottom() -> None:
    _, stack = eliza.scan(
        script(
            "".join(f"key {word} {rank}\n  0\n    Yes.\n" for word, rank in (("a", 1), ("b", 3), ("c", 2)))
        ),
        "a b c",
    )

    assert stack == ["b", "a", "c"]


def test_a_link_goes_on_with_another_keyword() -> None:
    assert said("Hi") == said("Hello") == "Hello. What would you like to talk about?"


def test_newkey_takes_the_next_keyword_of_the_stack() -> None:
    text = "key a 2\n  0\n    newkey\nkey b 1\n  0\n    B.\n"

    assert answers(script(text), "b a", "a") == ["B.", "None."]


def test_a_keyword_that_fits_nowhere_gives_way() -> None:
    text = "key a 2\n  a x\n    A.\nkey b 1\n  0\n    B.\n"

    assert answers(script(text), "a b", "a", "a x") == ["B.", "None.", "A."]


def test_newkey_in_the_script() -> None:
    assert said("I like cheese") == "What is it about cheese that you like?"


def test_pre_puts_other_words_in_place_and_links() -> None:
    assert said("I'm unhappy") == "It cannot be easy to be unhappy."
    assert said("You're stupid") == "What gives you the idea that I am stupid?"


def test_pre_keeps_what_it_names() -> None:
    text = "key x 0\n  0 x 0\n    pre y (3) (1) = y\nkey y 0\n  y 0\n    Got (2).\n"

    assert answers(script(text), "one x two") == ["Got two one."]


def test_a_circle_of_links_ends() -> None:
    assert answers(script("key a 0\n  0\n    = b\nkey b 0\n  0\n    = a\n"), "a") == ["None."]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("I hurt myself", ["you", "hurt", "yourself"]),
        ("you told me", ["I", "told", "you"]),
        ("my book and yours", ["your", "book", "and", "mine"]),
        ("your book and mine", ["my", "book", "and", "yours"]),
        ("I've read I'll go", ["you've", "read", "you'll", "go"]),
        ("I don\u2019t know", ["you", "don't", "know"]),
        ("My Aunt May is in York", ["your", "Aunt", "May", "is", "in", "York"]),
        ("MY MOTHER HATES ME", ["your", "mother", "hates", "you"]),
        ("Women are late", ["women", "are", "late"]),
        ("London is late", ["London", "is", "late"]),
        ("It costs 3.50 at 14:30 is that much", ["it", "costs", "3.50", "at", "14:30", "is", "that", "much"]),
    ],
)
def test_words_are_substituted_while_scanning(message: str, words: list[str]) -> None:
    assert eliza.scan(load(), message)[0] == words


@pytest.mark.parametrize(
    ("message", "reply_"),
    [
        ("I think you are right", "What gives you the idea that I am right?"),
        ("I am afraid of you", "It cannot be easy to be afraid of me."),
        (
            "If he told you that I was there",
            "How likely is it, would you say, that he told me that you were there?",
        ),
        ("If I was rich", "How likely is it, would you say, that you were rich?"),
        ("if you were rich", "How likely is it, would you say, that I was rich?"),
        ("if they saw you", "How likely is it, would you say, that they saw me?"),
        ("My boss was told that you are here", "I hear: your boss was told that I am here."),
    ],
)
def test_an_echo_is_mended(message: str, reply_: str) -> None:
    assert said(message) == reply_


@pytest.mark.parametrize(
    "message", ["Well, I hate rain", "Rain again. I hate rain", "Rain but I hate rain. My mother too"]
)
def test_the_first_clause_with_a_keyword_is_kept(message: str) -> None:
    assert said(message) == "What is it about rain that you hate?"


def test_a_delimiter_ends_the_scan_after_a_keyword() -> None:
    assert eliza.scan(load(), "I hate rain, my mother does too") == (["you", "hate", "rain"], ["i"])


@pytest.mark.parametrize(
    ("pattern", "message", "parts"),
    [
        ("0 a 0", "x a y z", "x|a|y z"),
        ("0 a 0 b 0", "a b a b", "|a||b|a b"),
        ("0 a 0 b", "a b a b", "|a|b a|b"),
        ("0 a 1", "x a y", "x|a|y"),
        ("0 a 2 b", "x a y z b", "x|a|y z|b"),
        ("2 a", "x y a", "x y|a"),
        ("0 a x|y 0", "a y z", "|a|y|z"),
        ("0 a /kin 0", "a mum z", "|a|mum|z"),
    ],
)
def test_decompositions(pattern: str, message: str, parts: str) -> None:
    rule = script(f"key mum /kin\nkey dad /kin\nkey a 0\n  {pattern}\n    A.\n").rules["a"].decompositions[0]

    found = eliza.decompose(rule, message.split(), message.split())

    assert [" ".join(part) for part in found or []] == parts.split("|")


@pytest.mark.parametrize(
    ("pattern", "message"), [("0 a 1", "a x y"), ("2 a", "x a"), ("a", "a a"), ("0 a /kin", "a son")]
)
def test_decompositions_that_do_not_fit(pattern: str, message: str) -> None:
    text = f"key mum /kin\nkey a 0\n  {pattern}\n    Said.\n"

    assert answers(script(text), message) == ["None."]


def test_memory_comes_back_at_the_fourth_state_of_the_counter_oldest_first() -> None:
    text = "memory my\n  0 my 0\n    Back to (3).\nkey my 0\n  0\n    My.\n"

    found = answers(script(text), "my cat", "my dog", *"xxxxxxxxx")

    assert found == [*["My."] * 2, "Back to cat.", *["None."] * 3, "Back to dog.", *["None."] * 4]


def test_memory_waits_while_there_is_a_keyword() -> None:
    text = "memory my\n  0 my 0\n    Back to (3).\nkey my 0\n  0\n    My.\n"

    found = answers(script(text), "my cat", "x", "my dog", *"xxxxxxxx")

    assert found == ["My.", "None.", "My.", *["None."] * 3, "Back to cat.", *["None."] * 3, "Back to dog."]


def test_which_memory_rule_depends_on_the_last_word_alone() -> None:
    text = "memory my\n  0 my 0\n    One (3).\n  0 my 0\n    Two (3).\nkey my 0\n  0\n    My.\n"

    found = [
        answers(script(text), f"my {word}", "x", "x")[2] for word in ("cat", "dog", "black cat", "black dog")
    ]

    assert [line.split()[0] for line in found] == ["One", "Two", "One", "Two"]


def test_none_takes_turns() -> None:
    assert replies(*["bananas"] * 7) == [*load().none, load().none[0]]


def test_the_script_is_as_broad_as_that_of_1966() -> None:
    keywords = [word for word, rule in load().rules.items() if rule.decompositions]

    assert len(keywords) == 114


def test_every_sentence_of_the_script_can_be_said() -> None:
    texts = [
        (decomposition, reassembly.parts)
        for rule in load().rules.values()
        for decomposition in rule.decompositions
        for reassembly in decomposition.reassemblies
    ]

    wrong = [
        parts
        for decomposition, parts in texts
        if any(
            part > sum(map(len, decomposition.segments)) + len(decomposition.segments) - 1
            for part in parts
            if isinstance(part, int)
        )
    ]

    assert wrong == []


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_messages_get_a_reply(name: str) -> None:
    message = HOSTILE[name][:2000]

    found = [len(text) for text in replies("My mother is ill", message, message, message)]

    assert [1 <= length <= 2000 for length in found] == [True] * 4


def test_fifty_chats_at_once_do_not_touch_each_other() -> None:
    chats = [[f"my cat number {n} is ill", *CONVERSATION[n % 3 :], "x", "x"] for n in range(50)]
    alone = [replies(*messages) for messages in chats]

    histories: list[list[str]] = [[] for _ in chats]
    for turn in range(max(map(len, chats))):
        for history, messages in zip(histories, chats, strict=True):
            if turn < len(messages):
                history.append(messages[turn])
                history.append(eliza.reply({}, history, ()))

    assert [history[1::2] for history in histories] == alone


def test_what_she_said_before_does_not_matter_only_what_the_person_said() -> None:
    history = list(chain.from_iterable((message, "anything") for message in CONVERSATION))[:-1]

    assert eliza.reply({}, history, ()) == replies(*CONVERSATION)[-1]


def test_a_reply_can_be_asked_for_again() -> None:
    assert [eliza.reply({}, CONVERSATION[:1], ()) for _ in range(3)] == [
        "Hello. What would you like to talk about?"
    ] * 3


def test_no_settings_are_needed() -> None:
    assert eliza.check({}) == {}


def test_a_setting_is_refused() -> None:
    with pytest.raises(ConfigError) as error:
        eliza.check({"opening": "Hi"})

    assert str(error.value) == "There is no setting 'opening'. This engine has none: enter {}."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("key a 0\n  0\n    = b\n", "The script links to 'b', which is no keyword."),
        ("key a 0\n   0\n", "Cannot read this line of the script: '   0'"),
        ("rule a 0\n", "Cannot read this line of the script: 'rule a 0'"),
    ],
)
def test_a_wrong_script_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="script") as error:
        parse(text)

    assert str(error.value) == message
