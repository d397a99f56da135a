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
    if inspect.isclass(found):
        found = found()
    if not callable(found):
        raise Unfit("%s: a %s found, a function expected" % (place, type(found).__name__))
    return found


def arity_of(draw, arguments):
    """How many of value, count and generator a draw function takes."""
    try:
        parameters = inspect.signature(draw).parameters.values()
    except (TypeError, ValueError):
        return 2
    parameters = [p for p in parameters if p.name not in arguments]
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return 2
    required = [p for p in positional if p.default is p.empty]
    named = [p for p in positional if p.name in ("count", "rng")]
    wanted = max(len(required), 1 + len(named))
    if not 1 <= len(positional) or wanted > 3:
        raise Unfit(
            "it takes %d arguments, draw(value), draw(value, count) or draw(value, count, rng) expected"
            % wanted
        )
    return min(wanted, len(positional))


def generator(seed):
    """NumPy's generator, or Python's where there is no NumPy."""
    try:
        import numpy
    except ImportError:
        return random.Random(seed)
    return numpy.random.default_rng(seed)


def outputs(draw, arity, arguments, value, count, rng):
    """``count`` outputs, and the exceptions that were raised instead: (place, name)."""
    if arity == 1:
        return one_by_one(lambda: draw(value, **arguments), count)
    more = () if arity == 2 else (rng,)
    try:
        made = draw(value, count, *more, **arguments)
    except Exception:
        return one_by_one(lambda: only(draw(value, 1, *more, **arguments)), count)
    if isinstance(made, (str, bytes, dict)) or not hasattr(made, "__iter__"):
        raise Unfit("a %s returned, a list of %d outputs expected" % (type(made).__name__, count))
    if not hasattr(made, "__len__"):
        made = list(made)
    if getattr(made, "ndim", 1) == 0 or len(made) != count:
        raise Unfit(
            "%s outputs returned, %d expected"
            % (len(made) if getattr(made, "ndim", 1) else "no list of", count)
        )
    return made, []


def only(made):
    if len(made) != 1:
        raise Unfit("%d outputs returned, 1 expected" % len(made))
    return made[0]


def one_by_one(call, count):
    made, raised, spare = [], [], None
    for place in range(count):
        try:
            made.append(call())
            spare = made[-1]
        except Unfit:
            raise
        except (Exception, SystemExit) as error:
            raised.append((place, type(error).__name__[:48]))
            made.append(None)
    if raised:
        lost = {place for place, _ in raised}
        made = [
            (0 if spare is None else spare) if place in lost else one
            for place, one in enumerate(made)
        ]
    return made, raised


def frame(made, raised):
    """The bytes of an answer: its header and its payload."""
    header = {"raised": raised}
    dtype = getattr(made, "dtype", None)
    if dtype is not None and dtype.kind in "iufb" and made.ndim in (1, 2):
        return as_array(made, header)
    if dtype is not None and dtype.kind in "iufbU":
        if dtype.kind != "U" or made.ndim > 2:
            raise Unfit("an array of shape %s returned, one or two axes expected" % (made.shape,))
    if dtype is not None:
        made = made.tolist()
    return as_list(list(made), header)


def as_array(made, header):
    kind = {"i": "<i8", "u": "<i8", "f": "<f8", "b": "<i8"}[made.dtype.kind]
    if made.dtype.kind == "u" and made.size and int(made.max()) >= 2**63:
        kind = "<f8"
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
    if len(header["shape"]) == 1 and type(None) in {type(one) for one in flat}:
        flat = without_none(flat, header)
    if all(kind in (int, float) for kind in {type(one) for one in flat}):
        flat_kinds = {type(one) for one in flat}
    else:
        flat = [plain(one) for one in flat]
        flat_kinds = {type(one) for one in flat}
    if flat_kinds <= {bool} and len(header["shape"]) == 1:
        header.update(dtype="<i8", boolean=True)
        return header, little(array.array("q", flat))
    if flat_kinds <= {bool, int}:
        try:
            header.update(dtype="<i8", boolean=False)
            return header, little(array.array("q", flat))
        except OverflowError:
            pass
    if flat_kinds <= {bool, int, float}:
        header.update(dtype="<f8", boolean=False)
        return header, little(array.array("d", flat))
    header.update(dtype="json", boolean=False)
    return header, json.dumps(flat).encode()


def without_none(flat, header):
    """Numbers, and where there is none a place in the header; other outputs as they are."""
    numeric = [one for one in flat if one is not None]
    if not all(isinstance(one, numbers.Real) and not isinstance(one, bool) for one in numeric):
        return flat
    header["raised"] = list(header["raised"]) + [
        (i, "None") for i, one in enumerate(flat) if one is None
    ]
    return [0 if one is None else one for one in flat]


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
        self.draw, self.arguments = draw, arguments
        self.arity = arity_of(draw, arguments)

    def answer(self, value, count, seed, draw=None):
        rng = generator(seed) if self.arity == 3 else None
        made = outputs(draw or self.draw, self.arity, self.arguments, value, count, rng)
        return frame(*made)

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
        for repetition in range(2):
            random.seed(1)
            if numpy:
                numpy.random.seed(1)
            answers.append(self.answer(value, count, seed + repetition))
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
        return send(answers, {"unfit": "cannot be imported (%s)" % told}, b"")
    send(answers, {"ready": subject.arity, "python": sys.version.split()[0]}, b"")
    for line in orders:
        order = json.loads(line)
        task = getattr(subject, order.pop("task"))
        try:
            made = task(**order)
        except Unfit as error:
            made = ({"unfit": str(error)}, b"")
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
