"""Utterances a second of the checkers AL, B and CC over the Restaurant corpus, on one core, and the memory it takes.

    python bench/checkers.py [--data ../shared/data/dstc2_babi6] [--times 1] [--floor 29433]

Against the same features computed by the libraries, one utterance at a time and nothing kept: vaderSentiment for
sentiment, NLTK's stemmer and scikit-learn's vectoriser for the abuse model's words, pyphen for syllables, wordfreq for
how common a word is. `--times 34` reads the corpus as often, which makes a million utterances.
"""

import argparse
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bots.checkers import abuse, bias, corpus
from bots.checkers.examine import examine

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "dstc2_babi6"
AIM = 30.0


def resident() -> float:
    """MB this process holds in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def peak() -> float:
    """MB this process has held at most."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1e3


def read(paths: list[Path], times: int) -> Iterator[corpus.Utterance]:
    for turn in range(times):
        for path in paths:
            for said in corpus.read(path):
                yield corpus.Utterance(
                    f"{turn}/{path.stem}/{said.dialogue}", said.number, said.speaker, said.text
                )


def ours(paths: list[Path], times: int) -> None:
    before = resident()
    started = time.process_time()
    found = examine(lambda: read(paths, times))
    took = time.process_time() - started
    count = sum(found.utterances.values())
    levels = ", ".join(f"{issue} {found.findings[issue].score:.4f}" for issue in ("AL", "B", "CC"))
    print(f"ours: {count:,} utterances in {took:.2f} s of one core, {count / took:,.0f} a second ({levels})")
    print(f"      memory {before:.0f} MB before, {peak():.0f} MB at most; the aim is {AIM:.0f} s for 29,433")


def floor(paths: list[Path], limit: int) -> None:
    """AL, B and CC's features of each utterance by the libraries, as one would write it down first."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import nltk.stem.porter
    import pyphen
    import wordfreq
    from sklearn.feature_extraction.text import TfidfVectorizer
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    vader, hyphens = SentimentIntensityAnalyzer(), pyphen.Pyphen(lang="en_US")
    stemmer = nltk.stem.porter.PorterStemmer()
    vectorizer = TfidfVectorizer(
        tokenizer=lambda text: [stemmer.stem(word) for word in re.findall("[a-z]+", text.lower())],
        token_pattern=None,
        vocabulary=sorted(abuse.load().terms),
        ngram_range=(1, 3),
        norm=None,
    )
    texts = [said.text for said in read(paths, 1)][:limit]
    vectorizer.fit(texts[:100])
    lists = bias.lists()
    started = time.process_time()
    for text in texts:
        said = re.findall(r"[\w']+", text.lower())
        vectorizer.transform([text])
        vader.polarity_scores(text)
        sum(len(hyphens.positions(word)) + 1 for word in said)
        vader.polarity_scores(text)
        [sum(word in members for word in said) for members in lists.values()]
        [wordfreq.zipf_frequency(word, "en", wordlist="small") for word in said]
    took = time.process_time() - started
    print(
        f"libraries one by one: {len(texts):,} utterances in {took:.2f} s, {len(texts) / took:,.0f} a second"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument(
        "--floor", type=int, default=29_433, help="utterances the libraries are given; 0 for none"
    )
    options = parser.parse_args()
    paths = sorted(options.data.glob("*.txt"), reverse=True)
    if not paths:
        print(f"There is no corpus in {options.data}; --data names its folder.")
        return
    ours(paths, options.times)
    if options.floor:
        floor(paths, options.floor)


if __name__ == "__main__":
    main()
