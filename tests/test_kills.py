"""Kills at random moments, and everything made anew under other settings: the longest test."""

import os
import random
import signal
import subprocess

from conftest import RUNS, started

KILLS = 20


def test_killed_at_random_moments_it_ends_with_the_same_bytes(finished, spare):
    """SIGKILL to Snakemake alone, whose jobs go on as orphans, or to all of it at once, in turn.

    Each run has another number of cores, hash seed, locale and time zone, and all outputs are made anew:
    so this is the test of determinism too.
    """
    spare.remove_repeatable()
    moments = random.Random(20261130)
    kills = 0
    while kills < KILLS:
        settings = RUNS[kills % len(RUNS)]
        run = started(spare, "all", "--cores", settings["cores"], settings=settings)
        try:
            # A fast machine may come to the end: then the rest of the kills fall on another run.
            assert run.wait(moments.uniform(1.5, 4.0)) == 0
            spare.remove_repeatable()
            continue
        except subprocess.TimeoutExpired:
            os.kill(run.pid, signal.SIGKILL) if kills % 2 else os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            kills += 1
        if kills == 1:
            unlocked = spare.run("snakemake", "--unlock")
            assert unlocked.returncode == 0, unlocked.stderr
        for lock in (spare.folder / ".snakemake/locks").glob("*"):
            lock.unlink()  # the same, faster
    end = spare.snakemake("--quiet", "all")
    assert end.returncode == 0, end.stderr[-3000:]
    assert spare.repeatable() == finished.repeatable()
