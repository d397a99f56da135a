"""The process in which a Python subject draws: started by `noiseaudit.audit.subjects`.

It imports nothing of noiseaudit, and runs on any Python from 3.6 on, so that noise meets an interpreter
like its users'. Orders are lines of JSON on one pipe, answers are frames on another: a line of JSON,
then as many bytes as it says. What the subject prints goes nowhere; its standard input is empty.
"""

import array
import copy
import importlib
import importlib.util
import inspect
import json
import numbers
import os
import pickle
import random
import sys


class Unfit(Exception):
    """The subject returns what is no list of outputs."""


def load(place, folder):
    """The draw function of ``file.py:name`` or ``module:name`` (the name may have dots)."""
    module_name, _, name = place.rpartition(":")
    path = os.path.join(folder, module_name)
    if not path.endswith(".py"):
        path = os.path.join(folder, *module_name.split(".")) + ".py"
    sys.path.insert(0, os.path.dirname(path) if os.path.isfile(path) else folder)
    if os.path.isfile(path):
        spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    elif module_name.endswith(".py"):
        raise Unfit("%s: no such file" % path)
    else:
        module = importlib.import_module(module_name)
    found = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise Unfit("%s: no %s in it" % (module_name, name))
        found = getattr(found, part)
    if not callable(found):
        raise Unfit("%s: a %s found, a function expected" % (place, type(found).__name__))
    return found


SHAPES = "draw(value), draw(value, count) or draw(value, count, rng)"


def parameters_of(draw, arguments):
    """What a draw function takes after the value: pairs of ``count`` or ``rng``, and their names in it.

    By their names, wherever they stand; else by their place, if they have no default. The name is None
    of what can be given by place only.
    """
    try:
        parameters = list(inspect.signature(draw).parameters.values())
    except (TypeError, ValueError):
        return [("count", None)]
    parameters = [p for p in parameters if p.name not in arguments]
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    placed = [p for p in parameters if p.kind in kinds]
    many = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if not placed and not many:
        raise Unfit("it takes no value, %s expected" % SHAPES)
    by_name = [p.name for p in parameters if p not in placed[:1] and p.name in ("count", "rng")]
    free = [kind for kind in ("count", "rng") if kind not in by_name]
    taken = []
    for p in parameters:
        if p in placed[:1]:
            continue
        if p.name in by_name:
            taken.append((p.name, None if p.kind is p.POSITIONAL_ONLY else p.name))
        elif p in placed and p.default is p.empty:
            if not free:
                found = len([q for q in placed if q.default is q.empty])
                raise Unfit("it takes %d arguments, %s expected" % (found, SHAPES))
            taken.append((free.pop(0), None if p.kind is p.POSITIONAL_ONLY else p.name))
    if many and not taken:
        return [("count", None)]
    return taken


class Caller:
    """A draw function, called as it wants to be."""

    def __init__(self, draw, arguments):
        self.arguments, self.taken = arguments, parameters_of(draw, arguments)
        self.kinds = {kind for kind, _ in self.taken}

    def __call__(self, draw, value, count, rng):
        placed, named = [value], dict(self.arguments)
        for kind, name in self.taken:
            given = count if kind == "count" else rng
            if name is None:
                placed.append(given)
            else:
                named[name] = given
        return draw(*placed, **named)


def generator(seed):
    """NumPy's generator, or Python's where there is no NumPy."""
    try:
        import numpy
    except ImportError:
        return random.Random(seed)
    return numpy.random.default_rng(seed)


class CallFailed(Exception):
    """A call for several outputs raised: which of them failed, only calls for one can tell."""


def outputs(call, batched, count, singly):
    """``count`` outputs, exceptions in place of some as (place, name), and the first one's words."""
    if not batched:
        return one_by_one(lambda: call(1), count)
    if singly:
        return one_by_one(lambda: only(call(1)), count)
    try:
        made = call(count)
        if not hasattr(made, "__len__") and hasattr(made, "__iter__"):
            made = list(made)
    except Unfit:
        raise
    except Exception as error:
        raise CallFailed(type(error).__name__[:48]) from error
    if isinstance(made, (str, bytes, dict)) or not hasattr(made, "__iter__"):
        raise Unfit("a %s returned, a list of %d outputs expected" % (type(made).__name__, count))
    return made, [], ""


def only(made):
    if len(made) != 1:
        raise Unfit("%d outputs returned, 1 expected" % len(made))
    return made[0]


def one_by_one(call, count):
    made, raised, spare, said = [], [], None, ""
    for place in range(count):
        try:
            made.append(call())
            spare = made[-1]
        except Unfit:
            raise
        except (Exception, SystemExit) as error:
            raised.append((place, type(error).__name__[:48]))
            said = said or "%s: %s" % (type(error).__name__, error)
            made.append(None)
    if raised:
        lost = {place for place, _ in raised}
        made = [
            (0 if spare is None else spare) if place in lost else one
            for place, one in enumerate(made)
        ]
    return made, raised, said


LONGEST_WORDS = 300


def frame(made, header, count):
    """The bytes of an answer: its header, with what is known of it already, and its payload."""
    if hasattr(made, "__array__"):
        import numpy

        made = numpy.asarray(made)
    length = len(made) if getattr(made, "ndim", 1) else 1
    if length != count or not getattr(made, "ndim", 1):
        raise Unfit("%d outputs returned, %d expected" % (length, count))
    dtype = getattr(made, "dtype", None)
    if dtype is None:
        return as_list(list(made), header)
    if made.ndim > 2 or (made.ndim == 2 and not made.shape[1]):
        raise Unfit("an array of shape %s returned, one or two axes expected" % (made.shape,))
    if dtype.kind in "iufb":
        return as_array(made, header)
    return as_list(made.tolist(), header)


def as_array(made, header):
    kind = {"i": "<i8", "u": "<i8", "f": "<f8", "b": "<i8"}[made.dtype.kind]
    if made.dtype.kind == "u" and made.size and int(made.max()) >= 2**63:
        raise Unfit(TOO_LARGE)
    text = made.dtype.kind == "b" and made.ndim == 1
    header.update(dtype=kind, shape=list(made.shape), boolean=text)
    return header, made.astype(kind).tobytes()


def as_list(made, header):
    kinds = {type(one) for one in made}
    if kinds and all(is_vector(one) for one in made):
        rows = [one.tolist() if hasattr(one, "tolist") else list(one) for one in made]
        widths = sorted({len(row) for row in rows})
        if len(widths) > 1:
            raise Unfit(
                "vectors of %d and %d coordinates returned, equal ones expected"
                % (widths[0], widths[-1])
            )
        if widths[0] == 0:
            raise Unfit("empty vectors returned, coordinates expected")
        flat = [one for row in rows for one in row]
        header["shape"] = [len(rows), widths[0]]
    else:
        flat = made
        header["shape"] = [len(made)]
    if not all(kind in (int, float) for kind in {type(one) for one in flat}):
        flat = [plain(one) for one in flat]
    kinds = {type(one) for one in flat}
    vectors = len(header["shape"]) == 2
    if kinds == {bool} and not vectors:
        header.update(dtype="<i8", boolean=True)
        return header, little(array.array("q", flat))
    header["boolean"] = False
    if kinds <= ({bool, int} if vectors else {int}):
        try:
            header["dtype"] = "<i8"
            return header, little(array.array("q", flat))
        except OverflowError as error:
            raise Unfit(TOO_LARGE) from error
    if any(isinstance(one, int) and abs(one) >= 2**63 for one in flat):
        raise Unfit(TOO_LARGE)
    if kinds <= ({bool, int, float} if vectors else {int, float}):
        header["dtype"] = "<f8"
        return header, little(array.array("d", flat))
    header["dtype"] = "json"
    return header, json.dumps(flat).encode()


TOO_LARGE = "integers beyond 64 bits returned, smaller ones expected: let it return differences"


def is_vector(one):
    return isinstance(one, (list, tuple)) or (
        hasattr(one, "dtype") and getattr(one, "ndim", 0) == 1
    )


def plain(one):
    if one is None or isinstance(one, (bool, str, int, float)):
        return one if type(one) in (bool, str, int, float, type(None)) else base(one)
    if isinstance(one, bytes):
        return one.decode("latin-1")
    if hasattr(one, "item") and getattr(one, "ndim", 1) == 0:
        return one.item()
    if isinstance(one, numbers.Integral):
        return int(one)
    try:
        if isinstance(one, numbers.Real) or type(one).__name__ == "Decimal":
            return float(one)
    except (TypeError, ValueError, OverflowError):
        pass
    raise Unfit(
        "a %s returned, numbers, booleans, strings or vectors expected" % type(one).__name__
    )


def base(one):
    for kind in (bool, int, float, str):
        if isinstance(one, kind):
            return kind(one)
    return one


def little(numbers_):
    if sys.byteorder == "big":
        numbers_.byteswap()
    return numbers_.tobytes()


class Subject:
    """A draw function, and what can be done to it besides drawing."""

    def __init__(self, draw, arguments):
        self.draw = draw() if inspect.isclass(draw) else draw
        self.call = Caller(self.draw, arguments)
        self.seedable = "rng" in self.call.kinds

    def answer(self, value, count, seed, singly=False, draw=None):
        rng = generator(seed) if self.seedable else None
        made, raised, said = outputs(
            lambda size: self.call(draw or self.draw, value, size, rng),
            "count" in self.call.kinds,
            count,
            singly,
        )
        return frame(made, {"raised": raised, "said": said[:LONGEST_WORDS]}, count)

    def copied(self, value, count, seed):
        """What the object and a copy of it draw next; None where it is no object, or cannot be copied."""
        if inspect.isfunction(self.draw) or inspect.isbuiltin(self.draw):
            return None
        twins = []
        for copier in (copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
            try:
                twins.append(copier(self.draw))
            except Exception:
                continue
        if not twins:
            return None
        seeds = range(seed, seed + 1 + len(twins))
        return [
            self.answer(value, count, own, draw=one)
            for one, own in zip([self.draw] + twins, seeds)  # noqa: B905 - strict is of 3.10
        ]

    def forked(self, value, count, seed):
        """What two children draw that are forked after the parent drew."""
        if not hasattr(os, "fork"):
            return None
        self.answer(value, 1, seed)
        return [self.in_child(value, count, seed + 1 + child) for child in range(2)]

    def in_child(self, value, count, seed):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            own = os.getpid()
            try:
                os.close(reading)
                made = self.answer(value, count, seed)
                if os.getpid() == own:  # else a child of the subject's came back here
                    with os.fdopen(writing, "wb") as pipe:
                        send(pipe, *made)
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            line = pipe.readline()
            payload = pipe.read()
        os.waitpid(child, 0)
        return (json.loads(line.decode()), payload) if line else None

    def seeded(self, value, count, seed):
        """What is drawn twice after the global generators were seeded alike."""
        answers = []
        states = random.getstate()
        numpy = sys.modules.get("numpy")
        kept = numpy.random.get_state() if numpy else None
        try:
            for repetition in range(2):
                random.seed(1)
                if numpy:
                    numpy.random.seed(1)
                answers.append(self.answer(value, count, seed + repetition))
        finally:
            random.setstate(states)
            if numpy:
                numpy.random.set_state(kept)
        return answers


def send(pipe, header, payload):
    header["bytes"] = len(payload)
    pipe.write(json.dumps(header).encode() + b"\n" + payload)
    pipe.flush()


def serve(orders, answers, place, folder, arguments):
    own = os.getpid()
    try:
        subject = Subject(load(place, folder), arguments)
    except Unfit as error:
        return send(answers, {"unfit": str(error)}, b"")
    except (Exception, SystemExit) as error:
        told = "%s: %s" % (type(error).__name__, error)
        return send(answers, {"missing": "cannot be imported (%s)" % told}, b"")
    send(answers, {"ready": subject.seedable, "python": sys.version.split()[0]}, b"")
    for line in orders:
        order = json.loads(line)
        task = getattr(subject, order.pop("task"))
        try:
            made = task(**order)
        except Unfit as error:
            made = ({"unfit": str(error)}, b"")
        except CallFailed as error:
            made = ({"failed": str(error)}, b"")
        if os.getpid() != own:
            os._exit(0)  # a child that the subject forked came back here
        if made is None or (isinstance(made, list) and None in made):
            send(answers, {"none": True}, b"")
        elif isinstance(made, list):
            send(answers, {"frames": len(made)}, b"")
            for one in made:
                send(answers, *one)
        else:
            send(answers, *made)


def main(orders, answers, place, folder, arguments):
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nothing, stream)
    with os.fdopen(orders, "r") as reading, os.fdopen(answers, "wb") as writing:
        serve(reading, writing, place, folder, json.loads(arguments))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
