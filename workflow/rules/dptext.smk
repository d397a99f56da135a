# The empirical sanity check of Habernal (2022).

MECHANISMS = config["dptext"]["mechanisms"]
DIMENSIONS = config["dptext"]["dimensions"]
REPEATS = config["dptext"]["repeats"]
PARTS = config["dptext"]["parts"]

# The counts of one mechanism in every dimension at every epsilon, or a part of them.
COUNTS = "results/dptext/counts/{mechanism}_repeats-{repeats}_part-{part}-of-{parts}.tsv"

ALL_COUNTS = expand(
    COUNTS,
    mechanism=MECHANISMS,
    repeats=REPEATS,
    part=range(1, PARTS + 1),
    parts=PARTS,
)

LOSSES = "results/dptext/losses.tsv"
TRANSFORMS = "results/dptext/transforms.parquet"

DPTEXT_FIGURES = {
    # The paper's Fig. 1: privacy loss against epsilon, per mechanism and dimension.
    "dptext/privacy_loss": figure("privacy loss", losses=LOSSES),
    # Deviation of every finite cell from its exact loss, ours and the published.
    "dptext/exact_agreement": figure("agreement with the exact loss", losses=LOSSES),
    # The five sampling panels.
    "dptext/transforms": figure("sampling", samples=TRANSFORMS),
}

DPTEXT_PAGES = {
    "dptext/losses": page(
        "table: losses",
        "Privacy loss per mechanism, epsilon and dimension",
        "mechanism epsilon dimension verdict repeats loss loss_low loss_high exact_loss z_exact"
        " published_loss published_repeats z_published detectable_loss",
    ),
}

DPTEXT = [
    LOSSES,
    "results/dptext/losses.html",
    "results/dptext/repeatability.tsv",
    "results/dptext/performance.tsv",
    *expand("figures/{name}.{format}", name=DPTEXT_FIGURES, format=FORMATS),
    "results/notebooks/dptext.ipynb",
    "results/notebooks/dptext.html",
]


wildcard_constraints:
    mechanism=r"[a-z_]+",
    repeats=r"[0-9]+",
    part=r"[0-9]+",
    parts=r"[0-9]+",


rule count_votes:
    """Attack one mechanism in every dimension at every epsilon."""
    input:
        script="scripts/dptext/count_votes.py",
        modules=modules("scripts/dptext/count_votes.py"),
    output:
        table=ensure(COUNTS, non_empty=True),
    log:
        "logs/dptext/count_{mechanism}_repeats-{repeats}_part-{part}-of-{parts}.log",
    conda:
        "../../environment.yml"
    params:
        mechanism="{mechanism}",
        dimensions=[f"--dimension {dimension}" for dimension in DIMENSIONS],
        repeats="{repeats}",
        part="{part}",
        parts="{parts}",
        epsilons=[f"--epsilon {epsilon}" for epsilon in config["dptext"]["epsilons"]],
        seed=config["seed"],
    shell:
        "python {input.script} --mechanism {params.mechanism} {params.dimensions}"
        " {params.epsilons} --repeats {params.repeats} --seed {params.seed}"
        " --part {params.part} --parts {params.parts} --table {output.table} --log {log}"


rule tabulate_losses:
    """The loss of every cell: estimated, certified, exact and published."""
    input:
        script="scripts/dptext/tabulate_losses.py",
        modules=modules("scripts/dptext/tabulate_losses.py"),
        published="resources/published/dptext.tsv",
        counts=ALL_COUNTS,
    output:
        table=ensure(LOSSES, non_empty=True),
    log:
        "logs/dptext/tabulate_losses.log",
    conda:
        "../../environment.yml"
    params:
        repeats=REPEATS,
        alpha=config["alpha"],
    shell:
        "python {input.script} --published {input.published} --repeats {params.repeats}"
        " --alpha {params.alpha} --table {output.table} --log {log} {input.counts}"


rule repeat_attack:
    """The paper's footnote 7: ADePT at epsilon 0.1 and n = 2, again and again."""
    input:
        script="scripts/dptext/repeat_attack.py",
        modules=modules("scripts/dptext/repeat_attack.py"),
    output:
        table=ensure("results/dptext/repeatability.tsv", non_empty=True),
    log:
        "logs/dptext/repeat_attack.log",
    priority: 1
    conda:
        "../../environment.yml"
    params:
        cell="--mechanism adept --epsilon 0.1 --dimension 2",
        repeats=REPEATS,
        repetitions=config["dptext"]["repetitions"],
        seed=config["seed"],
        alpha=config["alpha"],
    shell:
        "python {input.script} {params.cell} --repeats {params.repeats}"
        " --repetitions {params.repetitions} --seed {params.seed} --alpha {params.alpha}"
        " --table {output.table} --log {log}"


rule compare_dptext:
    """Every printed number of the paper beside ours."""
    input:
        script="scripts/dptext/compare_dptext.py",
        modules=modules("scripts/dptext/compare_dptext.py"),
        losses=LOSSES,
        repeatability="results/dptext/repeatability.tsv",
        published="resources/published/dptext.tsv",
    output:
        table=ensure("results/dptext/comparison.tsv", non_empty=True),
    log:
        "logs/dptext/compare.log",
    conda:
        "../../environment.yml"
    shell:
        "python {input.script} --losses {input.losses} --repeatability {input.repeatability}"
        " --published {input.published} --table {output.table} --log {log}"


rule claims_dptext:
    """What the source claims in words, and whether it stands."""
    input:
        script="scripts/tabulate_claims.py",
        modules=modules("scripts/tabulate_claims.py"),
        losses=LOSSES,
    output:
        table=ensure("results/dptext/claims.tsv", non_empty=True),
    log:
        "logs/dptext/claims.log",
    conda:
        "../../environment.yml"
    shell:
        "python {input.script} --dptext {input.losses} --table {output.table} --log {log}"


rule draw_transforms:
    """What the five sampling panels show."""
    input:
        script="scripts/dptext/draw_transforms.py",
        modules=modules("scripts/dptext/draw_transforms.py"),
    output:
        samples=TRANSFORMS,
    log:
        "logs/dptext/draw_transforms.log",
    conda:
        "../../environment.yml"
    params:
        draws=config["dptext"]["panel_draws"],
        seed=config["seed"],
    shell:
        "python {input.script} --draws {params.draws} --seed {params.seed}"
        " --samples {output.samples} --log {log}"


rule benchmark_attack:
    """Our simulation against a plain NumPy one, alone on the machine."""
    input:
        script="benchmarks/attack.py",
        modules=modules("benchmarks/attack.py"),
    output:
        table=ensure("results/dptext/performance.tsv", non_empty=True),
    log:
        "logs/dptext/benchmark_attack.log",
    priority: 2  # they need every core: at the end the others would wait
    conda:
        "../../environment.yml"
    threads: workflow.cores
    params:
        dimensions=[f"--dimension {dimension}" for dimension in DIMENSIONS],
        repeats=[f"--repeats {size}" for size in config["dptext"]["benchmark"]["repeats"]],
        rounds=config["dptext"]["benchmark"]["rounds"],
        seed=config["seed"],
    shell:
        "python {input.script} {params.dimensions} {params.repeats} --rounds {params.rounds}"
        " --seed {params.seed} --table {output.table} --log {log}"
