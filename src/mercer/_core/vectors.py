# mypy: disable-error-code="no-untyped-call"
"""Vectors as values of compiled code: as many numbers as a register of this CPU holds.

LLVM turns simple loops into vector code by itself, but it does not keep a tile of sums in registers while an inner loop
runs, nor does it find the place of a largest value. With these functions such loops are written down as they are meant.
A vector has the type of the array that it was loaded from. With +, - and *, and in the functions below, a number stands
for a vector of equal numbers.

Where compiling is disabled, a vector is a small NumPy array, and everything works in the same way.
"""

from __future__ import annotations

import operator
from itertools import product
from math import factorial, log
from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba.core import cgutils, config, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model

from ..types import Array


def _register_bytes() -> int:
    """Of the CPU that Numba compiles for."""
    features = getattr(config, "CPU_FEATURES", None)
    if features is None:
        features = llvmlite.binding.get_host_cpu_features().flatten()
    return 64 if "+avx512f" in features else 32


BYTES = _register_bytes()
LOWEST = {4: -126.0, 8: -1022.0}  # the exponent of the least normal number, by the bytes of a number
_BITS = {4: 23, 8: 52}  # of a mantissa
_POWER_64 = [log(2.0) ** k / factorial(k) for k in range(14)]  # of 2^f in powers of f, |f| <= 1/2
_POWER_32 = [  # best for |f| <= 1/2 in float32: relative error 2e-9
    1.0, 0.6931471824645996, 0.24022647738456726, 0.055503323674201965,
    0.00961843691766262, 0.0013398873852565885, 0.00015353361959569156,
]  # fmt: skip


def lanes_of(array: Array) -> int:
    """How many of its numbers a vector holds."""
    return BYTES // array.itemsize


def load(array: Array, *place: int) -> Any:
    """The numbers of an array (of its last axis, which is contiguous) from a place on."""
    return array[place[:-1]][place[-1] : place[-1] + lanes_of(array)].copy()


def number_at(array: Array, place: int) -> Any:
    """array[place], for a place >= 0: compiled code need not ask whether it is."""
    return array[place]


def load_wide(array: Array, place: int) -> Any:
    """As many of the numbers of an array from a place on as a float64 vector holds, as such a vector."""
    return array[place : place + BYTES // 8].astype(np.float64)


def store(vector: Any, array: Array, *place: int) -> None:
    """Write them there."""
    array[place[:-1]][place[-1] : place[-1] + len(vector)] = vector


def filled(array: Array, x: float) -> Any:
    """A vector as from this array, with this number in every place."""
    return np.full(lanes_of(array), x, array.dtype)


def multiply_add(a: Any, b: Any, c: Any) -> Any:
    """a b + c, rounded once where the CPU can."""
    return a * b + c


def larger(a: Any, b: Any) -> Any:
    """The larger of each two."""
    return np.maximum(a, b)


def smaller(a: Any, b: Any) -> Any:
    """The smaller of each two."""
    return np.minimum(a, b)


def if_above(a: Any, b: Any, yes: Any, no: Any) -> Any:
    """`yes` where a > b, else `no`."""
    return np.where(a > b, yes, no).astype(a.dtype)


def exp2(*vectors: Any) -> Any:
    """2^t of each vector, for t <= 0; below the least normal number it need not be more than nearly 0.

    2^t = 2^k 2^f with k the integer nearest to t: a polynomial for 2^f, and k added to the exponent's bits. Of several
    vectors, one operation after the other is done for all of them, so that none waits for its own last result.
    """
    return tuple(np.where(t > LOWEST[t.itemsize], np.exp2(t), 0).astype(t.dtype) for t in vectors)


def count_differing(counts: Any, words: Any, word: float) -> Any:
    """Add up in how many bits each byte of the words differs from that of one word: 31 words at most.

    Words are 32 bits, counts four bytes; both are kept as float32.
    """
    both = words.view(np.uint32) ^ np.float32(word).view(np.uint32)
    return (counts.view(np.uint8) + np.bitwise_count(both.view(np.uint8))).view(np.float32)


def counted(counts: Any) -> Any:
    """The sum of each four bytes."""
    return counts.view(np.uint8).reshape(-1, 4).sum(axis=1).astype(np.float32)


def add_to(total: Array, start: int, vector: Any) -> None:
    """Add a vector to the numbers of a float64 array from `start` on."""
    total[start : start + len(vector)] += vector


def largest_of(vector: Any) -> Any:
    """The largest number of a vector."""
    return vector.max()


def sum_of(vector: Any) -> Any:
    """The sum of its numbers."""
    return vector.sum()


class Vector(types.Type):
    """The type of a vector of float32 or float64."""

    def __init__(self, dtype: Any) -> None:
        self.dtype, self.lanes = dtype, BYTES * 8 // dtype.bitwidth
        super().__init__(name=f"vector({self.lanes} x {dtype})")


_SINGLE, _DOUBLE = Vector(types.float32), Vector(types.float64)
_OF = {types.float32: _SINGLE, types.float64: _DOUBLE}


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, _llvm_type(kind))


def _llvm_type(kind: Vector) -> Any:
    return ir.VectorType(ir.FloatType() if kind.dtype == types.float32 else ir.DoubleType(), kind.lanes)


def _whole_numbers(kind: Vector) -> Any:
    return ir.VectorType(ir.IntType(kind.dtype.bitwidth), kind.lanes)


def _common(*kinds: Any) -> Any:
    """The type of the vectors among the arguments; None where that is not one type."""
    vectors = {kind for kind in kinds if isinstance(kind, Vector)}
    fits = all(isinstance(kind, (Vector, types.Number)) for kind in kinds)
    return vectors.pop() if fits and len(vectors) == 1 else None


def _vector(context: Any, builder: Any, value: Any, kind: Any, wanted: Vector) -> Any:
    """A value as a vector: a number in every lane."""
    if isinstance(kind, Vector):
        return value
    value = context.cast(builder, value, kind, wanted.dtype)
    one = builder.insert_element(ir.Constant(_llvm_type(wanted), ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), wanted.lanes), None)
    return builder.shuffle_vector(one, ir.Constant(_llvm_type(wanted), ir.Undefined), zeros)


def _address(context: Any, builder: Any, array: Any, kind: Any, index: Any, index_kinds: Any) -> Any:
    """The address of a vector within an array."""
    parts = context.make_array(kind)(context, builder, array)
    index = [context.cast(builder, i, k, types.intp) for i, k in zip(index, index_kinds, strict=True)]
    shape, strides = cgutils.unpack_tuple(builder, parts.shape), cgutils.unpack_tuple(builder, parts.strides)
    data = cgutils.get_item_pointer2(context, builder, parts.data, shape, strides, kind.layout, index)
    return builder.bitcast(data, _llvm_type(_OF[kind.dtype]).as_pointer())


def _define(function: Any, result: Any, lower: Any, *kinds: Any) -> None:
    """Make a function known to the compiler: `result` gives its type from those of the arguments, or None."""

    class Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            kind = result(*args)
            return None if kind is None else signature(kind, *args)

    infer_global(function)(Template)
    for arguments in kinds:
        lower_builtin(function, *arguments)(lower)


def _elementwise(function: Any, arity: int, emit: Any) -> None:
    """Of vectors, and of numbers that stand for vectors."""

    def result(*kinds: Any) -> Any:
        return _common(*kinds) if len(kinds) == arity else None

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.return_type
        vectors = [_vector(context, builder, a, k, kind) for a, k in zip(args, signature.args, strict=True)]
        return emit(builder, kind, *vectors)

    _define(function, result, lower, *product((Vector, types.Number), repeat=arity))


def _source(array: Any, *place: Any) -> Any:
    fits = isinstance(array, types.Array) and array.ndim == len(place) and array.dtype in _OF
    return _OF[array.dtype] if fits else None


def _lower_lanes_of(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return context.get_constant(types.intp, _OF[signature.args[0].dtype].lanes)


def _lower_load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kinds = signature.args
    result = builder.load(_address(context, builder, args[0], kinds[0], args[1:], kinds[1:]))
    result.align = kinds[0].dtype.bitwidth // 8
    return result


def _lower_number_at(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array = signature.args[0]
    pointer = _address(context, builder, args[0], array, args[1:], signature.args[1:])
    return builder.load(builder.bitcast(pointer, context.get_value_type(array.dtype).as_pointer()))


def _lower_load_wide(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array = signature.args[0]
    pointer = _address(context, builder, args[0], array, args[1:], signature.args[1:])
    number = ir.FloatType() if array.dtype == types.float32 else ir.DoubleType()
    result = builder.load(builder.bitcast(pointer, ir.VectorType(number, _DOUBLE.lanes).as_pointer()))
    result.align = array.dtype.bitwidth // 8
    return result if array.dtype == types.float64 else builder.fpext(result, _llvm_type(_DOUBLE))


def _lower_store(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kinds = signature.args
    pointer = _address(context, builder, args[1], kinds[1], args[2:], kinds[2:])
    builder.store(args[0], pointer, align=kinds[1].dtype.bitwidth // 8)
    return context.get_dummy_value()


def _double_parts(builder: Any, kind: Vector, vector: Any) -> list[Any]:
    """A vector in float64: itself, or two halves of a float32 one."""
    if kind == _DOUBLE:
        return [vector]
    parts = []
    for first in (0, _DOUBLE.lanes):
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), _DOUBLE.lanes), list(range(first, first + _DOUBLE.lanes)))
        half = builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), lanes)
        parts.append(builder.fpext(half, _llvm_type(_DOUBLE)))
    return parts


def _lower_add_to(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    for number, part in enumerate(_double_parts(builder, signature.args[2], args[2])):
        start = builder.add(args[1], ir.Constant(args[1].type, number * _DOUBLE.lanes))
        pointer = _address(context, builder, args[0], signature.args[0], [start], signature.args[1:2])
        value = builder.load(pointer)
        value.align = 8
        builder.store(builder.fadd(value, part), pointer, align=8)
    return context.get_dummy_value()


def _lower_filled(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return _vector(context, builder, args[1], signature.args[1], signature.return_type)


def _folded(combine: Any) -> Any:
    """The lowering of a function that folds a vector in two until one number is left."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector, kind = args[0], signature.args[0]
        lanes = kind.lanes
        while lanes > 1:
            lanes //= 2
            order = [(place + lanes) % kind.lanes for place in range(kind.lanes)]
            places = ir.Constant(ir.VectorType(ir.IntType(32), kind.lanes), order)
            other = builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), places)
            vector = combine(builder, vector, other)
        return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))

    return lower


def _emit_larger(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _call_llvm(builder: Any, name: str, *args: Any) -> Any:
    """A function of LLVM, from vectors to a vector of their type."""
    kind = args[0].type
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind] * len(args)), name)
    return builder.call(function, args)


def _emit_multiply_add(builder: Any, kind: Vector, a: Any, b: Any, c: Any) -> Any:
    return _call_llvm(builder, f"llvm.fmuladd.v{kind.lanes}f{kind.dtype.bitwidth}", a, b, c)


def _emit_exp2(builder: Any, kind: Vector, vectors: Any) -> list[Any]:
    size, wide, integers = kind.dtype.bitwidth // 8, _llvm_type(kind), _whole_numbers(kind)
    bits, coefficients = _BITS[size], _POWER_32 if size == 4 else _POWER_64

    def number(x: float) -> Any:
        return ir.Constant(wide, [x] * kind.lanes)

    # At one less than the least exponent, f is 0 and the bits are those of zero.
    vectors = [_emit_larger(builder, t, number(LOWEST[size] - 1.0)) for t in vectors]
    magic = number(1.5 * 2.0**bits)  # added to a number, it leaves the nearest integer in the lowest bits
    shifted = [builder.fadd(t, magic) for t in vectors]
    whole = [builder.fsub(s, magic) for s in shifted]
    f = [builder.fsub(t, k) for t, k in zip(vectors, whole, strict=True)]
    p = [number(coefficients[-1])] * len(f)
    for c in coefficients[-2::-1]:
        p = [_emit_multiply_add(builder, kind, q, g, number(c)) for q, g in zip(p, f, strict=True)]
    places = ir.Constant(integers, [bits] * kind.lanes)
    exponents = [builder.shl(builder.bitcast(s, integers), places) for s in shifted]
    sums = [builder.add(builder.bitcast(q, integers), e) for q, e in zip(p, exponents, strict=True)]
    return [builder.bitcast(both, wide) for both in sums]


def _lower_exp2(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return context.make_tuple(builder, signature.return_type, _emit_exp2(builder, signature.args[0], args))


def _emit_count_differing(builder: Any, kind: Vector, counts: Any, words: Any, word: Any) -> Any:
    integers, octets = _whole_numbers(kind), ir.VectorType(ir.IntType(8), BYTES)
    both = builder.xor(builder.bitcast(words, integers), builder.bitcast(word, integers))
    ones = _call_llvm(builder, f"llvm.ctpop.v{BYTES}i8", builder.bitcast(both, octets))
    return builder.bitcast(builder.add(builder.bitcast(counts, octets), ones), _llvm_type(kind))


def _emit_counted(builder: Any, kind: Vector, counts: Any) -> Any:
    integers = _whole_numbers(kind)

    def number(x: int) -> Any:
        return ir.Constant(integers, [x] * kind.lanes)

    counts = builder.bitcast(counts, integers)
    odd = builder.and_(builder.lshr(counts, number(8)), number(0x00FF00FF))
    pairs = builder.add(builder.and_(counts, number(0x00FF00FF)), odd)
    total = builder.add(builder.and_(pairs, number(0xFFFF)), builder.lshr(pairs, number(16)))
    return builder.sitofp(total, _llvm_type(kind))


_elementwise(operator.add, 2, lambda builder, kind, a, b: builder.fadd(a, b))
_elementwise(operator.sub, 2, lambda builder, kind, a, b: builder.fsub(a, b))
_elementwise(operator.mul, 2, lambda builder, kind, a, b: builder.fmul(a, b))
_elementwise(operator.truediv, 2, lambda builder, kind, a, b: builder.fdiv(a, b))
_elementwise(larger, 2, lambda builder, kind, a, b: _emit_larger(builder, a, b))
_elementwise(smaller, 2, lambda builder, kind, a, b: builder.select(builder.fcmp_ordered("<", a, b), a, b))
_elementwise(if_above, 4, lambda builder, kind, a, b, y, n: builder.select(builder.fcmp_ordered(">", a, b), y, n))
_elementwise(multiply_add, 3, _emit_multiply_add)
_elementwise(count_differing, 3, _emit_count_differing)
_elementwise(counted, 1, _emit_counted)
_define(exp2, lambda *kinds: types.UniTuple(kinds[0], len(kinds)), _lower_exp2, *([Vector] * n for n in (1, 3)))
_define(lanes_of, lambda array: types.intp, _lower_lanes_of, (types.Array,))
_places = [[types.Integer] * axes for axes in (1, 2, 3)]
_define(load, _source, _lower_load, *((types.Array, *place) for place in _places))
_define(number_at, lambda array, place: array.dtype, _lower_number_at, (types.Array, types.Integer))
_define(load_wide, lambda array, place: _DOUBLE, _lower_load_wide, (types.Array, types.Integer))
_define(store, lambda vector, *at: types.void if _source(*at) == vector else None, _lower_store,
        *((Vector, types.Array, *place) for place in _places))  # fmt: skip
_define(add_to, lambda total, start, vector: types.void, _lower_add_to, (types.Array, types.Integer, Vector))
_define(filled, lambda array, x: _OF.get(array.dtype), _lower_filled, (types.Array, types.Number))
_define(largest_of, lambda vector: vector.dtype, _folded(_emit_larger), (Vector,))
_define(sum_of, lambda vector: vector.dtype, _folded(lambda builder, a, b: builder.fadd(a, b)), (Vector,))
