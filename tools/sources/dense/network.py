"""The network of all-MiniLM-L6-v2, put together anew around the installed model's weights to compute in integers.

The installed file keeps 8 bits a weight but multiplies floats. Here what goes into a product is rounded to 8 bits as
well, with one scale for each text, which takes a third of the time. Weights are halved to 7 bits: the sum of two
products then fits into the 16 bits that some processors add them up in, so that none of them cuts it off.

ONNX files are Protocol Buffers; the few kinds of messages that are needed are read and written right here.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy

LAYERS, HEADS, DIMENSIONS = 6, 12, 384
_TYPES = {1: "float32", 3: "int8", 7: "int64"}
_INTEGER, _FLOAT = 7, 1
_FUSED = "com.microsoft"  # onnxruntime's own operations
_MATRICES = 6  # of each layer: query, key, value, output, and two of its feed-forward part
_VARINT, _EIGHT_BYTES, _SIZED, _FOUR_BYTES = 0, 1, 2, 5  # how a field's value is written

Message = bytes


def network(model: bytes) -> bytes:
    """From the installed file to one whose inputs are ``tokens`` and ``positions``, and whose output is ``pieces``.

    The inputs are rows of integers of one length, the output has 384 floats for each of them.
    """
    weights = _weights(model)
    matrices = [
        name.removesuffix("_q") for name in weights if name.startswith("val_") and name.endswith("_q")
    ]
    made = _Network(weights)
    pieces = made.embeddings()
    for layer in range(LAYERS):
        pieces = made.layer(layer, pieces, matrices[_MATRICES * layer : _MATRICES * (layer + 1)])
    made.node("Identity", [pieces], "pieces")
    return _model(made)


@dataclass
class _Network:
    weights: "Mapping[str, numpy.ndarray]"
    nodes: list[Message] = field(default_factory=list)
    tensors: list[Message] = field(default_factory=list)

    def embeddings(self) -> str:
        """What stands for each piece of a word and for its place, added up."""
        tokens = self._row_of("word_embeddings", "tokens")
        positions = self._row_of("position_embeddings", "positions")
        kind = self.tensor("kind", self.weights["inner.embeddings.token_type_embeddings.weight"][0])
        placed = self.node("Add", [self.node("Add", [tokens, kind], "typed"), positions], "placed")
        scale, shift = self._given("inner.embeddings.LayerNorm.weight", "inner.embeddings.LayerNorm.bias")
        return self.node("LayerNormalization", [placed, scale, shift], "embedded", epsilon=1e-12, axis=-1)

    def layer(self, number: int, pieces: str, matrices: list[str]) -> str:
        """One layer: each piece looks at all others, then each is thought over by itself."""
        own = f"inner.encoder.layer.{number}."
        query, key, value, output, widen, narrow = matrices
        seen = [
            self._product(pieces, matrix, f"{own}attention.self.{part}.bias")
            for matrix, part in ((query, "query"), (key, "key"), (value, "value"))
        ]
        attended = self.node("MultiHeadAttention", seen, f"attended{number}", _FUSED, num_heads=HEADS)
        told = self._product(attended, output, f"{own}attention.output.dense.bias")
        pieces = self._added(told, pieces, f"{own}attention.output.LayerNorm")
        wide = self._product(pieces, widen, f"{own}intermediate.dense.bias")
        bent = self.node("Gelu", [wide], f"bent{number}", _FUSED)
        return self._added(
            self._product(bent, narrow, f"{own}output.dense.bias"), pieces, f"{own}output.LayerNorm"
        )

    def node(
        self, operation: str, inputs: list[str], output: str, domain: str = "", **settings: float
    ) -> str:
        """Add an operation; gives the name of its output."""
        parts = [_bytes(1, name.encode()) for name in inputs]
        parts += [_bytes(2, output.encode()), _bytes(4, operation.encode()), _bytes(7, domain.encode())]
        parts += [_bytes(5, _setting(name, value)) for name, value in settings.items()]
        self.nodes.append(b"".join(parts))
        return output

    def tensor(self, name: str, values: "numpy.ndarray") -> str:
        kind = next(kind for kind, known in _TYPES.items() if known == str(values.dtype))
        shape = b"".join(_number(1, size) for size in values.shape)
        named = _number(2, kind) + _bytes(8, name.encode())
        self.tensors.append(shape + named + _bytes(9, values.tobytes()))
        return name

    def _given(self, *names: str) -> list[str]:
        return [self.tensor(name, self.weights[name]) for name in names]

    def _row_of(self, table: str, indices: str) -> str:
        """Look up rows that are kept in 8 bits, each with its own scale."""
        rows, scales = self._given(
            f"inner.embeddings.{table}.weight_q", f"inner.embeddings.{table}.weight_scale"
        )
        found = self.node("Gather", [rows, indices], f"{table}.rows")
        floats = self.node("Cast", [found], f"{table}.floats", to=_FLOAT)
        return self.node(
            "Mul", [floats, self.node("Gather", [scales, indices], f"{table}.scales")], f"{table}.found"
        )

    def _product(self, pieces: str, matrix: str, bias: str) -> str:
        import numpy

        halved = numpy.rint(self.weights[f"{matrix}_q"] / 2).astype(numpy.int8)
        scales = 2 * self.weights[f"{matrix}_scale"].reshape(-1)
        inputs = [pieces, self.tensor(matrix, halved), self.tensor(f"{matrix}.scale", scales), ""]
        return self.node("DynamicQuantizeMatMul", [*inputs, *self._given(bias)], f"{matrix}.product", _FUSED)

    def _added(self, change: str, pieces: str, norm: str) -> str:
        inputs = [change, pieces, *self._given(f"{norm}.weight", f"{norm}.bias")]
        return self.node("SkipLayerNormalization", inputs, f"{norm}.sum", _FUSED, epsilon=1e-12)


def _model(made: _Network) -> bytes:
    inputs = [_value(name, _INTEGER, [1, "length"]) for name in ("tokens", "positions")]
    graph = b"".join(
        [
            *(_bytes(1, node) for node in made.nodes),
            _bytes(2, b"all-MiniLM-L6-v2"),
            *(_bytes(5, tensor) for tensor in made.tensors),
            *(_bytes(11, value) for value in inputs),
            _bytes(12, _value("pieces", _FLOAT, [1, "length", DIMENSIONS])),
        ]
    )
    operations = [_bytes(1, b"") + _number(2, 17), _bytes(1, _FUSED.encode()) + _number(2, 1)]
    return _number(1, 8) + _bytes(7, graph) + b"".join(_bytes(8, used) for used in operations)


def _weights(model: bytes) -> "dict[str, numpy.ndarray]":
    """The tensors of a file by name, in its order."""
    import numpy

    (graph,) = (value for number, value in _fields(memoryview(model)) if number == 7)
    found = {}
    for number, tensor in _fields(graph):
        if number != 5:
            continue
        parts = list(_fields(tensor))
        (kind,) = (value for number, value in parts if number == 2)
        (name,) = (value for number, value in parts if number == 8)
        raw = next((value for number, value in parts if number == 9), None)
        if raw is not None and kind in _TYPES:
            shape = [value for number, value in parts if number == 1]
            found[bytes(name).decode()] = numpy.frombuffer(raw, _TYPES[kind]).reshape(shape)
    return found


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """The numbers and values of a message's fields: integers, and what else there is as bytes."""
    place = 0
    while place < len(message):
        key, place = _read_number(message, place)
        number, wire = divmod(key, 8)
        if wire == _VARINT:
            value, place = _read_number(message, place)
            yield number, value
            continue
        size = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}.get(wire, 0)
        if wire == _SIZED:
            size, place = _read_number(message, place)
        yield number, message[place : place + size]
        place += size


def _read_number(message: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        part = message[place]
        place += 1
        value |= (part & 127) << shift
        shift += 7
        if part < 128:
            return value, place


def _value(name: str, kind: int, shape: list[int | str]) -> Message:
    sizes = [_bytes(2, size.encode()) if isinstance(size, str) else _number(1, size) for size in shape]
    tensor = _number(1, kind) + _bytes(2, b"".join(_bytes(1, size) for size in sizes))
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, tensor))


def _setting(name: str, value: float) -> Message:
    if isinstance(value, int):
        return _bytes(1, name.encode()) + _number(3, value) + _number(20, 2)
    return (
        _bytes(1, name.encode()) + _varint(2 << 3 | _FOUR_BYTES) + struct.pack("<f", value) + _number(20, 1)
    )


def _number(number: int, value: int) -> Message:
    return _varint(number << 3 | _VARINT) + _varint(value % (1 << 64))


def _bytes(number: int, value: bytes) -> Message:
    return _varint(number << 3 | _SIZED) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    parts.append(value)
    return bytes(parts)
