# The discrete Laplace noise of OpenDP's releases (Gerolimetto Fabrello et al. 2026).

RELEASES = config["opendp"]["releases"]
SCALES = [plain(scale) for scale in config["opendp"]["scales"]]
DRAWS = config["opendp"]["draws"]
CONTRAST = config["opendp"]["contrast"] | {"scale": plain(config["opendp"]["contrast"]["scale"])}


# The cache of one release's draws.
SAMPLE = "results/opendp/samples/opendp-{release}_scale-{scale}_draws-{draws}.parquet"

SAMPLES = expand(SAMPLE, release=RELEASES, scale=SCALES, draws=DRAWS)

TRACED = config["opendp"]["traces"]

TRACE_SCALES = {rational_name(scale): scale for scale in TRACED["scales"]}

# The cache of one trace of the cascade.
TRACE = "results/opendp/traces/{variant}_{entropy}_scale-{scale}_draws-{draws}.parquet"

TRACES = expand(
    TRACE,
    variant=TRACED["variants"],
    entropy=TRACED["entropies"],
    scale=list(TRACE_SCALES),
    draws=TRACED["draws"],
)

CASCADE = [
    *TRACES,
    "results/opendp/layers.tsv",
    multiext("figures/opendp/diagnosis", ".png", ".svg", ".pdf"),
]

OPENDP = CASCADE + (
    [
        *SAMPLES,
        "results/opendp/releases.tsv",
        "results/opendp/releases.html",
        "results/opendp/plrv.tsv",
        multiext("figures/opendp/artifacts", ".png", ".svg", ".pdf"),
        multiext("figures/opendp/plrv", ".png", ".svg", ".pdf"),
        "results/notebooks/opendp.ipynb",
        "results/notebooks/opendp.html",
    ]
    if RELEASES
    else []
)


wildcard_constraints:
    release=r"[0-9.]+",
    scale=r"[0-9._e+]+",
    draws=r"[0-9]+",
    variant=r"[a-z]+",
    entropy=r"[a-z0-9]+",


rule install_release:
    """Download one released wheel, by its hash, into a folder of its own."""
    input:
        script="scripts/install_release.py",
        modules=modules("scripts/install_release.py"),
        pins="workflow/envs/opendp-{release}.txt",
    output:
        site=directory("resources/opendp/{release}"),
    log:
        "logs/opendp/install_{release}.log",
    conda:
        "../../environment.yml"
    params:
        release="{release}",
    shell:
        "python {input.script} --release {params.release} --pins {input.pins} --site {output.site}"
        " --log {log}"


rule draw_release:
    """Draw from one release at one scale, on the operating system's entropy."""
    input:
        script="scripts/draw_release.py",
        modules=modules("scripts/draw_release.py"),
        site="resources/opendp/{release}",
    output:
        samples=SAMPLE,
    log:
        "logs/opendp/draw_{release}_scale-{scale}_draws-{draws}.log",
    conda:
        "../../environment.yml"
    params:
        release="{release}",
        scale="{scale}",
        draws="{draws}",
        batch=config["opendp"]["batch"],
    shell:
        "python {input.script} --release {params.release} --site {input.site}"
        " --scale {params.scale} --draws {params.draws} --batch {params.batch}"
        " --samples {output.samples} --log {log}"


rule tabulate_plrv:
    """The privacy loss of every output of every sample, with certified bounds."""
    input:
        script="scripts/tabulate_plrv.py",
        modules=modules("scripts/tabulate_plrv.py"),
        samples=SAMPLES,
    output:
        table=ensure("results/opendp/plrv.tsv", non_empty=True),
    log:
        "logs/opendp/tabulate_plrv.log",
    conda:
        "../../environment.yml"
    params:
        samples=[f"--sample {sample}" for sample in SAMPLES],
        alpha=config["alpha"],
    shell:
        "python {input.script} {params.samples} --alpha {params.alpha} --table {output.table}"
        " --log {log}"


rule tabulate_releases:
    """Fit, certified epsilon and verdict of every release at every scale."""
    input:
        script="scripts/tabulate_releases.py",
        modules=modules("scripts/tabulate_releases.py"),
        samples=SAMPLES,
        plrv="results/opendp/plrv.tsv",
    output:
        table=ensure("results/opendp/releases.tsv", non_empty=True),
    log:
        "logs/opendp/tabulate_releases.log",
    conda:
        "../../environment.yml"
    params:
        samples=[f"--sample {sample}" for sample in SAMPLES],
        alpha=config["alpha"],
    shell:
        "python {input.script} {params.samples} --plrv {input.plrv} --alpha {params.alpha}"
        " --table {output.table} --log {log}"


rule compare_opendp:
    """The paper's printed numbers that a released wheel or the cascade can answer, beside ours."""
    input:
        script="scripts/compare_opendp.py",
        modules=modules("scripts/compare_opendp.py"),
        releases="results/opendp/releases.tsv",
        layers="results/opendp/layers.tsv",
        published="resources/published/opendp.tsv",
    output:
        table=ensure("results/opendp/comparison.tsv", non_empty=True),
    log:
        "logs/opendp/compare.log",
    conda:
        "../../environment.yml"
    params:
        release=CONTRAST["faulty"],
        scale=CONTRAST["scale"],
        alpha=config["alpha"],
    shell:
        "python {input.script} --releases {input.releases} --layers {input.layers} --published {input.published}"
        " --release {params.release} --scale {params.scale} --alpha {params.alpha} --table {output.table} --log {log}"


rule plot_artifacts:
    """The paper's Fig. 1 and 2: spikes in a faulty release, none in a fixed one."""
    input:
        script="scripts/plot_artifacts.py",
        modules=modules("scripts/plot_artifacts.py"),
        faulty=SAMPLE.format(release=CONTRAST["faulty"], scale=CONTRAST["scale"], draws=DRAWS),
        fixed=SAMPLE.format(release=CONTRAST["fixed"], scale=CONTRAST["scale"], draws=DRAWS),
    output:
        png=report(
            "figures/opendp/artifacts.png",
            caption="../report/artifacts.rst",
            category="OpenDP",
            labels={"figure": "artifacts"},
        ),
        svg="figures/opendp/artifacts.svg",
        pdf="figures/opendp/artifacts.pdf",
    log:
        "logs/opendp/plot_artifacts.log",
    conda:
        "../../environment.yml"
    params:
        contrast=CONTRAST,
        draws=DRAWS,
    shell:
        "python {input.script} --faulty {input.faulty} --fixed {input.fixed}"
        " --figure {output.png} --log {log}"


rule plot_plrv:
    """The paper's Fig. 9: the privacy loss of every output against its bounds."""
    input:
        script="scripts/plot_plrv.py",
        modules=modules("scripts/plot_plrv.py"),
        plrv="results/opendp/plrv.tsv",
    output:
        png=report(
            "figures/opendp/plrv.png",
            caption="../report/plrv.rst",
            category="OpenDP",
            labels={"figure": "privacy loss per output"},
        ),
        svg="figures/opendp/plrv.svg",
        pdf="figures/opendp/plrv.pdf",
    log:
        "logs/opendp/plot_plrv.log",
    conda:
        "../../environment.yml"
    params:
        faulty=CONTRAST["faulty"],
        fixed=CONTRAST["fixed"],
        scale=CONTRAST["scale"],
        draws=DRAWS,
        alpha=config["alpha"],
    shell:
        "python {input.script} --plrv {input.plrv} --faulty {params.faulty}"
        " --fixed {params.fixed} --scale {params.scale} --figure {output.png} --log {log}"


rule render_releases:
    """releases.tsv as a page that the report shows inline."""
    input:
        script="scripts/render_table.py",
        modules=modules("scripts/render_table.py"),
        table="results/opendp/releases.tsv",
    output:
        page=report(
            "results/opendp/releases.html",
            caption="../report/releases.rst",
            category="OpenDP",
            labels={"figure": "table: releases"},
        ),
    log:
        "logs/opendp/render_releases.log",
    conda:
        "../../environment.yml"
    params:
        title="OpenDP releases against the discrete Laplace law",
        columns=[
            f"--column {name}"
            for name in (
                "release scale verdict samples mean_z variance chi2 dof expected_chi2 expected_chi2_sd p_pooled"
                " p_folded claimed_epsilon realised_epsilon_exact realised_epsilon_low"
                " detectable_epsilon"
            ).split()
        ],
        draws=DRAWS,
        alpha=config["alpha"],
    shell:
        "python {input.script} --table {input.table} --title {params.title:q} {params.columns}"
        " --page {output.page} --log {log}"


rule draw_trace:
    """Trace one variant of the cascade on one entropy source at one scale."""
    input:
        script="scripts/draw_trace.py",
        modules=modules("scripts/draw_trace.py"),
    output:
        samples=TRACE,
    log:
        "logs/opendp/trace_{variant}_{entropy}_scale-{scale}_draws-{draws}.log",
    conda:
        "../../environment.yml"
    params:
        variant="{variant}",
        entropy="{entropy}",
        scale=lambda wildcards: TRACE_SCALES[wildcards.scale],
        draws="{draws}",
        seed=config["seed"],
    shell:
        "python {input.script} --variant {params.variant} --entropy {params.entropy}"
        " --scale {params.scale} --draws {params.draws} --seed {params.seed}"
        " --samples {output.samples} --log {log}"


rule tabulate_layers:
    """Every layer of every trace against its law; the earliest faulty one."""
    input:
        script="scripts/tabulate_layers.py",
        modules=modules("scripts/tabulate_layers.py"),
        published="resources/published/opendp.tsv",
        traces=TRACES,
    output:
        table=ensure("results/opendp/layers.tsv", non_empty=True),
    log:
        "logs/opendp/tabulate_layers.log",
    conda:
        "../../environment.yml"
    params:
        alpha=config["alpha"],
    shell:
        "python {input.script} --published {input.published} --alpha {params.alpha}"
        " --table {output.table} --log {log} {input.traces}"


rule plot_diagnosis:
    """Every layer, variant, source and scale at a glance."""
    input:
        script="scripts/plot_diagnosis.py",
        modules=modules("scripts/plot_diagnosis.py"),
        layers="results/opendp/layers.tsv",
    output:
        png=report(
            "figures/opendp/diagnosis.png",
            caption="../report/diagnosis.rst",
            category="OpenDP",
            labels={"figure": "diagnosis"},
        ),
        svg="figures/opendp/diagnosis.svg",
        pdf="figures/opendp/diagnosis.pdf",
    log:
        "logs/opendp/plot_diagnosis.log",
    conda:
        "../../environment.yml"
    params:
        draws=TRACED["draws"],
        seed=config["seed"],
    shell:
        "python {input.script} --layers {input.layers} --figure {output.png} --log {log}"
