"""Run the pipeline again and again, on 1 core and on 2, and compare every byte of its outputs.

The first run makes everything, or the TARGETS named. Each later run takes over what cannot repeat, the
draws from the operating system's entropy and the measured times, makes all the rest anew under another
number of cores, hash seed, locale and time zone, and must come to the same bytes. Only what attacks the
operating system's entropy anew is not compared; how much that is stands at the end.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import click
import pyarrow.parquet as pq

from noiseaudit import jobs, samplefiles

RUNS = (
    {"cores": "1", "PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "Asia/Tokyo"},
    {"cores": "2", "PYTHONHASHSEED": "2", "LC_ALL": "de_DE.UTF-8", "TZ": "America/Lima"},
    {"cores": "1", "PYTHONHASHSEED": "3", "LC_ALL": "tr_TR.UTF-8", "TZ": "UTC"},
    {"cores": "2", "PYTHONHASHSEED": "4", "LC_ALL": "C.UTF-8", "TZ": "Pacific/Apia"},
)

UNREPEATABLE = (
    "opendp/samples/*",
    "opendp/traces/*_os_*",
    "audits/samples/*",
    "*/performance.tsv",
    "opendp/growth.tsv",
)
"""Under results/: what comes from the operating system's entropy, and measured times
(a sample of an audit holds one)."""

UNSEEDED = (
    "results/dpecdf/audit/hardened.tsv",
    "results/dpecdf/audit.tsv",
    "results/dpecdf/audit.html",
    "results/notebooks/dpecdf",
    "figures/dpecdf/audit",
)
"""What comes from the hardened class's default noise, which is the operating system's."""


@click.command(help=__doc__)
@click.option("--configfile", default="config/quick.yaml", show_default=True)
@click.option("--runs", default=len(RUNS), type=click.IntRange(1, len(RUNS)), show_default=True)
@click.argument("targets", nargs=-1)
@click.option(
    "--folder",
    type=jobs.PATH,
    help="Where the runs are made; a temporary folder by default, removed at the end.",
)
def verify_determinism(
    configfile: str, runs: int, folder: Path | None, targets: tuple[str, ...]
) -> None:
    make = partial(snakemake, configfile, targets or ("all",))
    with tempfile.TemporaryDirectory(prefix="noiseaudit-") as temporary:
        top = folder or Path(temporary)
        first = top / "first"
        if not first.exists():
            copy_of_project(first)
        make(first, {"cores": "2"})
        expected = digests(first)
        for number, settings in enumerate(RUNS[:runs], start=1):
            again = top / f"run-{number}"
            shutil.rmtree(again, ignore_errors=True)
            subprocess.run(["cp", "-al", first, again], check=True)
            remove_outputs(again)
            make(again, settings)
            compare(expected, digests(again), settings)
            shutil.rmtree(again)
    unseeded = sum(name.startswith(UNSEEDED) for name in expected)
    print(
        f"{len(expected) - unseeded} outputs equal in {runs + 1} runs; {unseeded} not compared: "
        "they come from the operating system's entropy"
    )


def copy_of_project(folder: Path) -> None:
    """The sources, and the wheels that are already installed."""
    root = Path(__file__).resolve().parent.parent
    made = {"results", "figures", "logs"}

    def left_out(place: str, names: list[str]) -> set[str]:
        at_top = made if Path(place) == root else set()
        return {name for name in names if name in at_top or name.startswith(".")}

    shutil.copytree(root, folder, ignore=left_out)


def snakemake(
    configfile: str, targets: tuple[str, ...], folder: Path, settings: dict[str, str]
) -> None:
    environment = os.environ | {name: value for name, value in settings.items() if name.isupper()}
    installed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout
    if settings.get("LC_ALL", "C").replace("UTF-8", "utf8") not in installed.split():
        print(f"locale {settings.get('LC_ALL')}: not on this machine, C stands in", file=sys.stderr)
    command = [sys.executable, "-m", "snakemake", *targets, "--cores", settings["cores"]]
    print(f"running with {describe(settings)}", file=sys.stderr)
    run = subprocess.run(
        [*command, "--quiet", "all", "--configfile", configfile],
        cwd=folder, env=environment, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    if run.returncode != 0:
        raise ValueError(f"the run with {describe(settings)} failed: {run.stderr[-2000:]}")


def describe(settings: dict[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())


def remove_outputs(folder: Path) -> None:
    """Everything that the pipeline made, but what cannot repeat."""
    for path in repeatable_outputs(folder):
        path.unlink()


def outputs(folder: Path) -> list[Path]:
    """What the pipeline made, but the temporary files that a killed job may have left."""
    found = [path for top in ("results", "figures") for path in (folder / top).rglob("*")]
    return [
        path
        for path in found
        if path.is_file() and path.name != "README.md" and not path.name.startswith(".")
    ]


def repeatable_outputs(folder: Path) -> list[Path]:
    kept = {path for pattern in UNREPEATABLE for path in (folder / "results").glob(pattern)}
    return [path for path in outputs(folder) if path not in kept]


def digests(folder: Path) -> dict[str, str]:
    """A digest of each output; of a sample file, those of its columns, without time and machine."""
    return {str(path.relative_to(folder)): digest(path) for path in repeatable_outputs(folder)}


def digest(path: Path) -> str:
    if path.suffix != ".parquet":
        return hashlib.sha256(path.read_bytes()).hexdigest()
    stored = json.loads(pq.read_metadata(path).metadata[samplefiles.DIGESTS_KEY])
    return json.dumps({name: value for name, value in stored.items() if name != "provenance"})


def compare(expected: dict[str, str], found: dict[str, str], settings: dict[str, str]) -> None:
    unlike = sorted(
        name
        for name in expected.keys() | found.keys()
        if expected.get(name) != found.get(name) and not name.startswith(UNSEEDED)
    )
    if unlike:
        raise ValueError(f"with {describe(settings)} other bytes in {', '.join(unlike)}")


if __name__ == "__main__":
    jobs.run(verify_determinism)
