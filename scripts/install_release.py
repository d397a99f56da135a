"""Install one released OpenDP wheel, alone, into a folder of its own."""

from pathlib import Path

import click

from noiseaudit import jobs, releases


@click.command(help=__doc__)
@click.option("--release", required=True, help="Version of opendp.")
@click.option("--pins", required=True, type=click.Path(path_type=Path), help="Its hashes.")
@click.option("--site", required=True, type=click.Path(path_type=Path), help="Folder to make.")
def install_release(release: str, pins: Path, site: Path) -> None:
    try:
        releases.install(release, pins, site)
    except releases.ReleaseError as error:
        raise releases.ReleaseError(
            f"{error} (rule install_release; without a network, an empty opendp.releases list in "
            "the config runs everything else)"
        ) from error


if __name__ == "__main__":
    jobs.run(install_release)
