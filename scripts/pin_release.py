"""Pin another release of OpenDP by its hashes, so that it can be named in the config.

Writes workflow/envs/opendp-RELEASE.txt (or another package's); run it by hand, from the project's root.
"""

import subprocess
import sys
from pathlib import Path

import click

from noiseaudit import files, jobs


@click.command(help=__doc__)
@click.argument("release")
@click.option("--package", default="opendp", show_default=True)
@click.option(
    "--folder",
    default=Path("workflow/envs"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the pins are kept.",
)
def pin_release(release: str, package: str, folder: Path) -> None:
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-deps", "--no-header"]
    command += ["--universal", "--generate-hashes", "--python-version", "3.11", "-"]
    finished = subprocess.run(
        command, input=f"{package}=={release}", capture_output=True, text=True, check=False
    )
    if finished.returncode != 0:
        raise ValueError(f"{package} {release} cannot be pinned: {finished.stderr.strip()}")
    with files.replacing(folder / f"{package}-{release}.txt") as temporary:
        temporary.write_text(finished.stdout)
    click.echo(f"{folder / f'{package}-{release}.txt'} written; now name {release} in the config")


if __name__ == "__main__":
    jobs.run(pin_release)
