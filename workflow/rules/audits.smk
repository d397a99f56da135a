# Any noise: each card in audits/ is drawn from, a setting at a time, and judged; and the audit itself is
# tried on noise whose truth is known.

AUDITED = config["audits"]
POWER, AUDIT_ALARMS = AUDITED["power"], AUDITED["false_alarms"]


PATHS = {path.stem: path for path in sorted((ROOT / "audits").glob("*.yaml"))}

for name in AUDITED["cards"]:
    if name not in PATHS:
        stop(f"config: audits.cards: {name!r} found, one of {', '.join(PATHS)} expected")

CARDS = {name: card_of(PATHS[name]) for name in AUDITED["cards"] or PATHS}

# Without wheels, cards that need any are left out, and so are those of releases that the config leaves out.
INSTALLED = [f"resources/opendp/{release}" for release in RELEASES]

CARDS = {
    name: card
    for name, card in CARDS.items()
    if "requires" not in card or (INSTALLED and release_of(card) in [None, *INSTALLED])
}

DRAWN = "results/audits/samples/{card}_setting-{place}_draws-{draws}.parquet"

VERDICTS = expand("results/audits/{card}.json", card=CARDS)

AUDIT_FIGURES = {
    # All verdicts at a glance.
    "audits/overview": figure("all verdicts", verdicts="results/audits/verdicts.tsv"),
    # Every audited noise against every question.
    "audits/practice": figure("every question", verdict=VERDICTS),
    # Draws until each specimen is found, and false alarms.
    "audits/power": figure(
        "power", power="results/audits/power.tsv", alarms="results/audits/false_alarms.tsv"
    ),
}

AUDIT_PAGES = {
    "audits/verdicts": page(
        "table: verdicts",
        "Audited noise",
        "card subject verdict by unsafe claim certified detectable draws law_p",
        caption="overview",
    ),
}

AUDIT_OUTPUTS = [
    "results/audits/verdicts.tsv",
    "results/audits/verdicts.html",
    "results/audits/power.tsv",
    "results/audits/false_alarms.tsv",
    *expand("figures/{name}.{format}", name=AUDIT_FIGURES, format=FORMATS),
    *expand("figures/audits/{card}.{format}", card=CARDS, format=FORMATS),
]


wildcard_constraints:
    card="|".join(map(re.escape, CARDS)) or "none",
    place=r"\d+",


rule draw_audit:
    """Outputs of both neighbours of one setting of a card, and whether they are fresh."""
    input:
        script="scripts/audits/draw_audit.py",
        modules=modules("scripts/audits/draw_audit.py"),
        card="audits/{card}.yaml",
        own=lambda wildcards: own_files(CARDS[wildcards.card]),
        site=lambda wildcards: required(CARDS[wildcards.card]),
    output:
        samples=DRAWN,
    log:
        "logs/audits/draw_{card}_{place}_{draws}.log",
    conda:
        "../../environment.yml"
    params:
        place="{place}",
        draws="{draws}",
        seconds=AUDITED["seconds"],
        alpha=config["alpha"],
        seed=config["seed"],
    shell:
        "python {input.script} --card {input.card} --setting {params.place} --draws {params.draws}"
        " --seconds {params.seconds} --alpha {params.alpha} --seed {params.seed}"
        " --samples {output.samples} --log {log}"


rule examine_audit:
    """The verdict on one card, all its settings together."""
    input:
        script="scripts/audits/examine_audit.py",
        modules=modules("scripts/audits/examine_audit.py"),
        card="audits/{card}.yaml",
        samples=lambda wildcards: expand(
            DRAWN,
            card=wildcards.card,
            place=range(len(CARDS[wildcards.card].get("settings", [None]))),
            draws=AUDITED["draws"],
        ),
    output:
        verdict="results/audits/{card}.json",
    log:
        "logs/audits/examine_{card}.log",
    conda:
        "../../environment.yml"
    params:
        draws=AUDITED["draws"],
        alpha=config["alpha"],
        seed=config["seed"],
    shell:
        "python {input.script} --card {input.card} --draws {params.draws} --alpha {params.alpha}"
        " --seed {params.seed} --verdict {output.verdict} --log {log} {input.samples}"


rule tabulate_audits:
    """All verdicts, a setting a row."""
    input:
        script="scripts/audits/tabulate_audits.py",
        modules=modules("scripts/audits/tabulate_audits.py"),
        verdicts=VERDICTS,
    output:
        table=ensure("results/audits/verdicts.tsv", non_empty=True),
    log:
        "logs/audits/tabulate_audits.log",
    conda:
        "../../environment.yml"
    shell:
        "python {input.script} --table {output.table} --log {log} {input.verdicts}"


rule measure_power:
    """After how many draws each faulty specimen is found."""
    input:
        script="scripts/audits/measure_power.py",
        modules=modules("scripts/audits/measure_power.py"),
        specimens="audits/specimens.py",
    output:
        table=ensure("results/audits/power.tsv", non_empty=True),
    log:
        "logs/audits/measure_power.log",
    conda:
        "../../environment.yml"
    params:
        runs=POWER["runs"],
        draws=POWER["draws"],
        seed=config["seed"],
    shell:
        "python {input.script} --specimens {input.specimens} --runs {params.runs}"
        " --draws {params.draws} --seed {params.seed} --table {output.table} --log {log}"


rule count_audit_alarms:
    """How often a healthy specimen is called anything else."""
    input:
        script="scripts/audits/count_audit_alarms.py",
        modules=modules("scripts/audits/count_audit_alarms.py"),
        specimens="audits/specimens.py",
    output:
        table=ensure("results/audits/false_alarms.tsv", non_empty=True),
    log:
        "logs/audits/count_audit_alarms.log",
    conda:
        "../../environment.yml"
    params:
        audits=AUDIT_ALARMS["audits"],
        draws=AUDIT_ALARMS["draws"],
        seed=config["seed"],
    shell:
        "python {input.script} --specimens {input.specimens} --audits {params.audits}"
        " --draws {params.draws} --seed {params.seed} --table {output.table} --log {log}"
