"""Attack one mechanism at every epsilon and dimension, and count the votes."""

from pathlib import Path

import click
import pandas as pd

from noiseaudit import attack, jobs, mechanisms, tables


@click.command(help=__doc__)
@click.option("--mechanism", "name", required=True, help="One of noiseaudit.mechanisms.")
@click.option("--dimension", "dimensions", required=True, multiple=True, type=int)
@click.option("--epsilon", "epsilons", required=True, multiple=True, type=float)
@click.option("--repeats", required=True, type=int, help="Releases of each data set.")
@click.option("--seed", required=True, type=int, help="Master seed.")
@click.option("--part", default=1, show_default=True, help="Which part of the shards to run,")
@click.option("--parts", default=1, show_default=True, help="of how many.")
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
def count_votes(
    name: str,
    dimensions: tuple[int, ...],
    epsilons: tuple[float, ...],
    repeats: int,
    seed: int,
    part: int,
    parts: int,
    table: Path,
) -> None:
    mechanism = mechanisms.named(name)
    attack.check_repeats(repeats)
    shards = attack.part_of(part, parts, repeats)
    total = len(dimensions) * sum(attack.repeats_of(shard, repeats) for shard in shards)
    cells = []
    with jobs.progress(total, name, "repeat") as bar:
        for dimension in dimensions:
            counts = attack.simulate(
                mechanism, epsilons, dimension, repeats, seed, shards, finished=bar.update
            )
            votes = pd.DataFrame(counts.reshape(-1, 4), columns=["n00", "n01", "n10", "n11"])
            keys = {"mechanism": name, "epsilon": epsilons, "dimension": dimension}
            cells.append(votes.assign(**keys)[[*keys, *votes]])
    tables.write_table(table, pd.concat(cells))


if __name__ == "__main__":
    jobs.run(count_votes)
