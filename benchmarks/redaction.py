"""How long 512,000 characters take to be redacted, on ordinary text and on the worst that could be thought of.

Run with ``python benchmarks/redaction.py``; the reach is one second for every line.
"""

import random
import re
import string
import time

from researchdesk.state.redaction import redact
from researchdesk.state.redaction_rules import BOUNDED, STRONG, WEAK

LENGTH = 512_000


def worst_texts() -> dict[str, str]:
    """Texts that stress one part each: prefixes, announcing words, escapes, key headers, long runs."""
    dice = random.Random(7)
    prefixes = [re.split(r"[\[({\\?]", pattern)[0] for _, pattern in (*STRONG, *BOUNDED, *WEAK)]
    prefixes = [prefix for prefix in prefixes if prefix]
    token = "".join(["gh", "p_", "A1b2" * 9])
    pieces = {
        "prose": ["the quick brown fox jumps over the lazy dog and reads a paper. "],
        "one letter": ["a"],
        "hex and dashes": list("0123456789abcdef-_.:"),
        "base64": list(string.ascii_letters + string.digits + "+/"),
        "prefixes": prefixes,
        "tokens": [token + " "],
        "tokens, split": ["\u200b".join(token) + " "],
        "passwords": ['password = "a1B2c3" '],
        "announcing words": ["password=", "token: ", "api_key = ", "Authorization: Bearer ", "secret "],
        "URL passwords": ["://u:p1@h "],
        "open URLs": ["://u:", "://"],
        "key headers": ["-----BEGIN " + "PRIVATE KEY-----\n"],
        "key headers and lines": ["-----BEGIN " + "PRIVATE KEY-----\n", "A" * 64 + "\n", "-----END "],
        "entities": ["&amp;amp;#95;", "&#x41;"],
        "zero width": ["a\u200b"],
        "backslashes": ["\\_", "\\", "%41"],
        "JWT parts": ["eyJhbGciOi.", "eyJ", "."],
        "spaces": [" ", "password", " "],
        "curl": ["curl -u ", "login ", "mysql "],
        "commas": ["value", ",", " ", "token", '"'],
    }
    return {name: "".join(dice.choices(parts, k=LENGTH))[:LENGTH] for name, parts in pieces.items()}


def main() -> None:
    """Print one line a text: seconds and how many secrets were named."""
    for name, text in worst_texts().items():
        began = time.perf_counter()
        count = redact(text).count
        print(f"{name:24} {time.perf_counter() - began:6.3f} s  {count:7,} named")


if __name__ == "__main__":
    main()
