"""Pin another OpenDP release by its hashes, so that it can be named in the config.

Writes workflow/envs/opendp-RELEASE.txt; run it by hand, from the project's root.
"""

import subprocess
import sys
from pathlib import Path

import click

from noiseaudit import jobs, tables


@click.command(help=__doc__)
@click.argument("release")
@click.option(
    "--folder",
    default=Path("workflow/envs"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the pins are kept.",
)
def pin_release(release: str, folder: Path) -> None:
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-deps", "--no-header"]
    command += ["--universal", "--generate-hashes", "--python-version", "3.11", "-"]
    finished = subprocess.run(
        command, input=f"opendp=={release}", capture_output=True, text=True, check=False
    )
    if finished.returncode != 0:
        raise ValueError(f"opendp {release} cannot be pinned: {finished.stderr.strip()}")
    with tables.replacing(folder / f"opendp-{release}.txt") as temporary:
        temporary.write_text(finished.stdout)
    click.echo(f"{folder / f'opendp-{release}.txt'} written; now name {release} in the config")


if __name__ == "__main__":
    jobs.run(pin_release)
