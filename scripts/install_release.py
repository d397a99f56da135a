"""Install one released wheel, alone, into a folder of its own."""

from pathlib import Path

import click

from noiseaudit import jobs, wheels


@click.command(help=__doc__)
@click.option("--package", required=True, help="Its name, such as opendp.")
@click.option("--release", required=True, help="Its version.")
@click.option("--pins", required=True, type=jobs.PATH, help="Its hashes.")
@click.option("--site", required=True, type=jobs.PATH, help="Folder to make.")
def install_release(package: str, release: str, pins: Path, site: Path) -> None:
    try:
        wheels.install(package, release, pins, site)
    except wheels.WheelError as error:
        raise wheels.WheelError(
            f"{error} (rule install_release; without a network, empty lists of releases in the "
            "config run everything else)"
        ) from error


if __name__ == "__main__":
    jobs.run(install_release)
