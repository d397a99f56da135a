"""Byte sources and keyed seeds: where every random bit of the project comes from.

A job's seed is derived from what the job *is* (its study, mechanism, scale, shard …), never from
the order in which jobs run, so results are the same on any number of cores.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable

import numpy as np

BLOCK = 1 << 16
"""Bytes fetched at a time; a multiple of every bit generator's word, so that none is wasted."""

STUCK_BIT = 0x10
"""The bit that always reads 1 in the bytes of the ``stuck`` source."""

BIT_GENERATORS = {
    "pcg64": np.random.PCG64,
    "philox": np.random.Philox,
    "mt19937": np.random.MT19937,
    "sfc64": np.random.SFC64,
}

SOURCES = ("os", *BIT_GENERATORS, "stuck")
"""Names that `byte_source` knows. ``stuck`` is faulty on purpose, for negative tests."""


def seed_sequence(seed: int, *identity: str | int | float) -> np.random.SeedSequence:
    """The seed of one job.

    Parameters
    ----------
    seed : int
        The study's master seed, at least 0.
    *identity : str, int or float
        What the job is, e.g. ``("dptext", "laplace", 8, "shard", 3)``. Two identities that differ in
        any part, or in a part's type, give independent streams.

    Raises
    ------
    ValueError
        If ``seed`` is no integer, or negative.
    """
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed: {seed!r} found, an integer of at least 0 expected")
    digest = hashlib.sha256(json.dumps(identity).encode()).digest()
    return np.random.SeedSequence(seed, spawn_key=np.frombuffer(digest, dtype="<u4").tolist())


def derived_seed(seed: int, *identity: str | int | float) -> int:
    """A master seed for one of many repetitions of a study, from the study's own."""
    return int(seed_sequence(seed, *identity).generate_state(1, np.uint64)[0])


def generator(seed: int, *identity: str | int | float) -> np.random.Generator:
    """A PCG64 generator keyed by a job's identity (see `seed_sequence`)."""
    return np.random.Generator(np.random.PCG64(seed_sequence(seed, *identity)))


class ByteSource:
    """An endless stream of bytes.

    Reading 3 then 5 bytes gives what reading 8 gives, so how a consumer sizes its buffer never
    changes its results.

    Parameters
    ----------
    fetch : callable
        ``fetch(n)`` returns the stream's next ``n`` bytes; it is only asked for multiples of `BLOCK`.
    """

    def __init__(self, fetch: Callable[[int], bytes]) -> None:
        self._fetch = fetch
        self._unread = np.empty(0, dtype=np.uint8)

    def read(self, count: int) -> np.ndarray:
        """The next ``count`` bytes, shape ``(count,)``, dtype uint8.

        Raises
        ------
        ValueError
            If ``count`` is negative, or the stream ends before.
        """
        if count < 0:
            raise ValueError(f"count: {count} found, an integer of at least 0 expected")
        missing = count - self._unread.size
        if missing > 0:
            fetched = self._fetch(-(-missing // BLOCK) * BLOCK)
            if len(fetched) < missing:
                raise ValueError(
                    f"entropy source: ended after {len(fetched)} bytes, {missing} expected"
                )
            self._unread = np.concatenate([self._unread, np.frombuffer(fetched, dtype=np.uint8)])
        taken, self._unread = self._unread[:count], self._unread[count:]
        return taken


class FreshBytes:
    """The operating system's entropy, none of it kept: copies and forks share no byte."""

    def read(self, count: int) -> np.ndarray:
        """The next ``count`` bytes, shape ``(count,)``, dtype uint8."""
        return np.frombuffer(os.urandom(count), dtype=np.uint8)


def byte_source(name: str, seed: int = 0, *identity: str | int | float) -> ByteSource:
    """The byte source of that name (one of `SOURCES`).

    ``os`` reads the operating system's entropy and cannot be seeded; every other source is
    determined by ``seed`` and ``identity`` (see `seed_sequence`).

    Raises
    ------
    ValueError
        If the name is unknown or the seed negative.
    """
    if name == "os":
        return ByteSource(os.urandom)
    if name == "stuck":
        healthy = generator(seed, name, *identity)
        return ByteSource(lambda count: _with_stuck_bit(healthy.bytes(count)))
    if name not in BIT_GENERATORS:
        raise ValueError(f"entropy source: {name!r} found, one of {', '.join(SOURCES)} expected")
    bits = BIT_GENERATORS[name](seed_sequence(seed, name, *identity))
    return ByteSource(np.random.Generator(bits).bytes)


def _with_stuck_bit(content: bytes) -> bytes:
    return (np.frombuffer(content, dtype=np.uint8) | STUCK_BIT).tobytes()


WORD_SOURCES = ("os", "pcg64", "philox", "sfc64")
"""Sources of `word_source`: those that make 64 bits at a time."""


def word_source(
    name: str, seed: int = 0, *identity: str | int | float
) -> Callable[[int], np.ndarray]:
    """A function from a count to as many 64-bit words of a source, uint64, shape ``(count,)``.

    A generator's raw words, three times as fast as bytes by `byte_source`, which are others.

    Parameters
    ----------
    name : str
        One of `WORD_SOURCES`.
    seed, identity
        As for `byte_source`.

    Raises
    ------
    ValueError
        If the name is none of them, or the seed negative.
    """
    if name not in WORD_SOURCES:
        raise ValueError(
            f"entropy source: {name!r} found, one of {', '.join(WORD_SOURCES)} expected"
        )
    if name == "os":
        return lambda count: np.frombuffer(os.urandom(8 * count), dtype=np.uint64)
    return BIT_GENERATORS[name](seed_sequence(seed, name, "words", *identity)).random_raw
