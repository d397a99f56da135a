# What goes over all studies: the comparison with the printed numbers, and the executed notebooks.

COMPARISONS = ["results/dptext/comparison.tsv"]

if RELEASES:
    COMPARISONS.append("results/opendp/comparison.tsv")

if SYNTHPRIV:
    COMPARISONS.append("results/dpecdf/comparison.tsv")

COMPARISON_FIGURE = {
    # Every printed number: how far the source's and ours lie from what is expected.
    "comparison": figure("all numbers", comparison="results/comparison.tsv"),
}

COMPARISON_PAGES = {
    "comparison": page(
        "table: all numbers",
        "Printed numbers beside ours",
        "source location quantity printed ours verdict ours_low ours_high expected expected_sd"
        " deviation_sigma our_deviation_sigma",
    ),
}

COMPARISON = [
    "results/comparison.tsv",
    "results/comparison.html",
    "results/claims.tsv",
    "results/landing.rst",
    *expand("figures/comparison.{format}", format=FORMATS),
]


rule join_comparison:
    """Every printed number of the sources, one row each."""
    input:
        script="scripts/join_tables.py",
        modules=modules("scripts/join_tables.py"),
        tables=COMPARISONS,
    output:
        table=ensure("results/comparison.tsv", non_empty=True),
    log:
        "logs/join_comparison.log",
    conda:
        "../../environment.yml"
    shell:
        "python {input.script} {input.tables} --table {output.table} --log {log}"


rule join_claims:
    """What the sources claim in words, one row each."""
    input:
        script="scripts/join_tables.py",
        modules=modules("scripts/join_tables.py"),
        tables=[path.replace("comparison", "claims") for path in COMPARISONS],
    output:
        table=ensure("results/claims.tsv", non_empty=True),
    log:
        "logs/join_claims.log",
    conda:
        "../../environment.yml"
    shell:
        "python {input.script} {input.tables} --table {output.table} --log {log}"


rule write_landing:
    """The first page of the report."""
    input:
        script="scripts/write_landing.py",
        modules=modules("scripts/write_landing.py"),
        claims="results/claims.tsv",
        comparison="results/comparison.tsv",
        audits="results/audits/verdicts.tsv",
        figure="figures/comparison.png",
        template="workflow/templates/landing.rst.j2",
        pins=[
            *expand("workflow/envs/opendp-{release}.txt", release=RELEASES),
            *expand("workflow/envs/synthpriv-{release}.txt", release=SYNTHPRIV),
        ],
    output:
        page=ensure("results/landing.rst", non_empty=True),
    log:
        "logs/write_landing.log",
    conda:
        "../../environment.yml"
    shell:
        "python {input.script} --claims {input.claims} --comparison {input.comparison}"
        " --audits {input.audits} --figure {input.figure} --template {input.template}"
        " --page {output.page} --log {log} {input.pins}"


# What no paper shows has a review of its own.
BEYOND = ["opendp/realised_epsilon", "opendp/reach"]

# The tables and figures that each notebook reads.
REVIEWED_TABLES = {
    "dptext": expand(
        "results/dptext/{name}.tsv",
        name=["losses", "repeatability", "performance", "comparison", "claims"],
    ),
    "opendp": expand(
        "results/opendp/{name}.tsv",
        name=["releases", "layers", "plrv", "performance", "false_alarms", "comparison", "claims"],
    ),
    "realised_privacy": expand(
        "results/opendp/{name}.tsv",
        name=["realised_privacy", "composition", "releases", "reach", "claims", DEEP_TABLE],
    ),
    "dpecdf": expand(
        "results/dpecdf/{name}.tsv",
        name=[
            "audit",
            "agreement",
            "utility",
            "performance",
            "false_alarms",
            "comparison",
            "claims",
        ],
    ),
}

REVIEWED_FIGURES = {
    "dptext": expand("figures/{name}.png", name=DPTEXT_FIGURES),
    "opendp": expand(
        "figures/{name}.png", name=[name for name in OPENDP_FIGURES if name not in BEYOND]
    ),
    "realised_privacy": expand("figures/{name}.png", name=BEYOND),
    "dpecdf": expand("figures/{name}.png", name=DPECDF_FIGURES),
}


wildcard_constraints:
    name="|".join(REVIEWED_TABLES),


rule execute_notebook:
    """Review a study in its notebook."""
    input:
        script="scripts/execute_notebook.py",
        modules=modules("scripts/execute_notebook.py"),
        notebook="notebooks/{name}.ipynb",
        notebook_modules=lambda wildcards: modules(f"notebooks/{wildcards.name}.ipynb"),
        tables=lambda wildcards: REVIEWED_TABLES[wildcards.name],
        figures=lambda wildcards: REVIEWED_FIGURES[wildcards.name],
    output:
        notebook="results/notebooks/{name}.ipynb",
    log:
        "logs/notebooks/execute_{name}.log",
    conda:
        "../../environment.yml"
    params:
        tables=lambda wildcards, input: os.path.dirname(input.tables[0]),
        figures=lambda wildcards, input: os.path.dirname(input.figures[0]),
        deep=lambda wildcards: (
            f" -p deep {DEEP_TABLE}.tsv" if wildcards.name == "realised_privacy" else ""
        ),
    shell:
        "python {input.script} --notebook {input.notebook} --executed {output.notebook}"
        " -p tables {params.tables} -p figures {params.figures}{params.deep}"
        " --log {log}"


rule render_notebook:
    """An executed notebook as one HTML page that needs no network."""
    input:
        script="scripts/render_notebook.py",
        modules=modules("scripts/render_notebook.py"),
        notebook="results/notebooks/{name}.ipynb",
        template="workflow/templates/offline/index.html.j2",
    output:
        page=report(
            "results/notebooks/{name}.html",
            caption="../report/notebook.rst",
            category=CATEGORIES["notebooks"],
            labels={"notebook": "{name}"},
        ),
    log:
        "logs/notebooks/render_{name}.log",
    conda:
        "../../environment.yml"
    params:
        templates=lambda wildcards, input: os.path.dirname(os.path.dirname(input.template)),
    shell:
        "python {input.script} --notebook {input.notebook} --templates {params.templates}"
        " --page {output.page} --log {log}"
