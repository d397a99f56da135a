# The discrete Laplace noise of OpenDP (Gerolimetto Fabrello et al. 2026): its releases, drawn from
# as they are; our cascade, traced layer by layer; and the exact laws of both.

RELEASES = config["opendp"]["releases"]
SCALES = [plain(scale) for scale in config["opendp"]["scales"]]
DRAWS = config["opendp"]["draws"]
CONTRAST = config["opendp"]["contrast"] | {"scale": plain(config["opendp"]["contrast"]["scale"])}
CONTRASTED = f"--release {CONTRAST['faulty']} --corrected {CONTRAST['fixed']}"
CLOSEUP = config["opendp"]["closeup"] | {"scale": plain(config["opendp"]["closeup"]["scale"])}
CENTRE = config["opendp"]["centre"]
TRACED = config["opendp"]["traces"]
TRACE_SCALES = {rational_name(scale): scale for scale in TRACED["scales"]}
DEEP = config["opendp"]["deep"]
DEEP_TABLE = f"deep_draws-{DEEP['draws']}"
DEEP_SCALES = {rational_name(scale): scale for scale in DEEP["scales"]}
EXACT = config["opendp"]["exact"]
TIMED = config["opendp"]["benchmark"]
ALARMS, REACH = config["opendp"]["false_alarms"], config["opendp"]["reach"]

# The cache of one release's draws.
SAMPLE = "results/opendp/samples/opendp-{release}_scale-{scale}_draws-{draws}.parquet"

# Counts of what one release's mechanisms drew.
REACHED = "results/opendp/samples/reach_opendp-{release}.tsv"

# The cache of one trace of the cascade.
TRACE = "results/opendp/traces/{variant}_{entropy}_scale-{scale}_draws-{draws}.parquet"

# Counts of one part of a variant's untraced draws, or of draws by inversion.
COUNTS = "results/opendp/counts/{variant}_scale-{scale}_draws-{draws}_part-{part}-of-{parts}.tsv"

SAMPLES = expand(SAMPLE, release=RELEASES, scale=SCALES, draws=DRAWS)
SAMPLES += expand(
    SAMPLE,
    release=[CONTRAST["faulty"], CONTRAST["fixed"]] if RELEASES else [],
    scale=CLOSEUP["scale"],
    draws=CLOSEUP["draws"],
)

traced = partial(expand, TRACE, draws=TRACED["draws"])

TRACES = traced(variant=VARIANTS, entropy=TRACED["entropies"], scale=TRACE_SCALES)

COUNTED = [
    path
    for variants, draws in ((VARIANTS, DEEP["draws"]), ("inversion", DEEP["inverted"]))
    for path in expand(
        COUNTS,
        variant=variants,
        scale=list(DEEP_SCALES),
        draws=draws,
        part=range(1, DEEP["parts"] + 1),
        parts=DEEP["parts"],
    )
]

# What the figures draw: the contrasted releases at their scale, and the cascade on one source.
FAULTY_SAMPLE, FIXED_SAMPLE = (
    SAMPLE.format(release=CONTRAST[side], scale=CONTRAST["scale"], draws=DRAWS)
    for side in ("faulty", "fixed")
)
FAULTY_TRACE, FIXED_TRACE, TAYLOR_TRACE = traced(
    variant=["faulty", "fixed", "taylor"], entropy=TRACED["entropies"][0], scale=CONTRAST["scale"]
)

CENTRED = SAMPLE.replace(".parquet", f"_centre-{CENTRE}.parquet").format(
    release=CONTRAST["faulty"], scale=CONTRAST["scale"], draws=DRAWS
)

LAYERS, RELEASES_TABLE = "results/opendp/layers.tsv", "results/opendp/releases.tsv"

CASCADE_FIGURES = {
    # Sec. VI-A: bytes and integers below the scale's numerator against the uniform law.
    "opendp/uniform": figure("uniform layers", trace=FAULTY_TRACE, layers=LAYERS),
    # Every layer, variant, source and scale at a glance.
    "opendp/diagnosis": figure("diagnosis", layers=LAYERS),
    # The call graph (the paper's Fig. 3), the faulty layer marked by the diagnosis.
    "opendp/hierarchy": figure("hierarchy", f"--scale {CONTRAST['scale']}", layers=LAYERS),
    # The paper's Fig. 4: the exponential coins of the faulty variant.
    "opendp/bernoulli_exp": figure("exponential coins", trace=FAULTY_TRACE, layers=LAYERS),
    # The paper's Fig. 5: the slow geometric sampler passes, the fast one fails.
    "opendp/geometric": figure("geometric samplers", trace=FAULTY_TRACE, layers=LAYERS),
    # The paper's Fig. 6: partial sums close in on e^-x.
    "opendp/taylor_bracket": figure("Taylor bracket"),
    # The paper's Fig. 7: the exponential coins of both corrections.
    "opendp/corrected_bernoulli": figure(
        "corrected coins", trace=[FIXED_TRACE, TAYLOR_TRACE], layers=LAYERS
    ),
    # The paper's Fig. 8: geometric samplers and final noise of both corrections.
    "opendp/corrected_fits": figure(
        "corrected fits", trace=[FIXED_TRACE, TAYLOR_TRACE], layers=LAYERS
    ),
}

RELEASE_FIGURES = {
    # The paper's Fig. 1 and 2: spikes in a faulty release, none in a fixed one.
    "opendp/artifacts": figure("artifacts", sample=[FAULTY_SAMPLE, FIXED_SAMPLE]),
    # Spacing follows the scale, place follows the centre, and the source does not matter.
    "opendp/scale_and_source": figure(
        "scale and source",
        scaled=traced(variant="faulty", entropy=TRACED["entropies"][0], scale=TRACE_SCALES),
        sourced=traced(
            variant="faulty",
            entropy=[name for name in TRACED["entropies"] if name != "stuck"],
            scale=CONTRAST["scale"],
        ),
        centred=[FAULTY_SAMPLE, CENTRED],
    ),
    # Coarse bins hide the artifacts.
    "opendp/bin_width": figure("bin width", sample=FAULTY_SAMPLE),
    # Sec. IX-A: time and entropy a draw.
    "opendp/performance": figure(
        "performance",
        performance="results/opendp/performance.tsv",
        growth="results/opendp/growth.tsv",
    ),
    # The paper's Fig. 9: the privacy loss of every output against its bounds.
    "opendp/plrv": figure(
        "privacy loss per output",
        f"--scale {CONTRAST['scale']}"
        f" --release {CONTRAST['faulty']} --release {CONTRAST['fixed']}",
        plrv="results/opendp/plrv.tsv",
    ),
    # Not in the paper: what was really paid, at every scale.
    "opendp/realised_epsilon": figure(
        "realised epsilon",
        realised="results/opendp/realised_privacy.tsv",
        composition="results/opendp/composition.tsv",
        releases=RELEASES_TABLE,
    ),
    # Which OpenDP releases are affected, scale by scale.
    "opendp/releases": figure("releases", releases=RELEASES_TABLE),
    # How far the fault reaches: mechanisms, releases, and what they pay.
    "opendp/reach": figure("reach of the fault", reach="results/opendp/reach.tsv"),
}

OPENDP_FIGURES = CASCADE_FIGURES | RELEASE_FIGURES

OPENDP_PAGES = {
    "opendp/releases": page(
        "table: releases",
        "OpenDP releases against the discrete Laplace law",
        "release scale verdict samples mean_z variance chi2 dof expected_chi2 expected_chi2_sd p_pooled"
        " p_folded claimed_epsilon realised_epsilon_exact realised_epsilon_low detectable_epsilon",
    ),
    "opendp/layers": page(
        "table: layers",
        "Every layer of every trace against its exact law",
        "variant entropy scale layer verdict samples mean_z expected_mean_z published_mean_z chi2"
        " expected_chi2 expected_chi2_sd published_chi2 dof p_pooled",
        caption="diagnosis",
    ),
    "opendp/reach": page(
        "table: reach",
        "How far the fault reaches: mechanisms and releases",
        "mechanism release scale verdict draws measure claimed exact certified chi2 dof p deviation"
        " detectable_deviation draws_needed",
    ),
}

# What needs no wheel.
OPENDP = [
    *expand("figures/{name}.{format}", name=CASCADE_FIGURES, format=FORMATS),
    *expand(
        "results/opendp/{name}.tsv",
        name=["layers", DEEP_TABLE, "realised_privacy", "composition", "false_alarms"],
    ),
    "results/opendp/layers.html",
]

if RELEASES:
    OPENDP += expand("figures/{name}.{format}", name=RELEASE_FIGURES, format=FORMATS)
    OPENDP += [
        *expand(
            "results/opendp/{name}.tsv", name=["releases", "reach", "plrv", "performance", "growth"]
        ),
        *expand("results/opendp/{name}.html", name=["releases", "reach"]),
        *expand(
            "results/notebooks/{name}.{format}",
            name=["opendp", "realised_privacy"],
            format=["ipynb", "html"],
        ),
    ]


wildcard_constraints:
    scale=r"[0-9._e+]+",
    draws=r"[0-9]+",
    variant=r"[a-z]+",
    entropy=r"[a-z0-9]+",
    part=r"[0-9]+",
    parts=r"[0-9]+",
    centre=r"-?[0-9]+",


rule draw_release:
    """Draw from one release at one scale, on the operating system's entropy."""
    input:
        # What is drawn again gives other draws: only what decides them may cause that, not what stores them.
        script=ancient("scripts/opendp/draw_release.py"),
        decides=["src/noiseaudit/_draw_from_wheel.py", "src/noiseaudit/releases.py"],
        site="resources/opendp/{release}",
    output:
        samples=SAMPLE,
    log:
        "logs/opendp/draw_{release}_scale-{scale}_draws-{draws}.log",
    conda:
        "../../environment.yml"
    params:
        noise="--release {release} --scale {scale} --draws {draws}",
        batch=config["opendp"]["batch"],
    shell:
        "python {input.script} {params.noise} --site {input.site} --batch {params.batch}"
        " --samples {output.samples} --log {log}"


use rule draw_release as draw_centred with:
    output:
        samples=SAMPLE.replace(".parquet", "_centre-{centre}.parquet"),
    log:
        "logs/opendp/draw_{release}_scale-{scale}_draws-{draws}_centre-{centre}.log",
    params:
        noise="--release {release} --scale {scale} --draws {draws} --centre {centre}",
        batch=config["opendp"]["batch"],


rule draw_traces:
    """Trace one variant of the cascade on one entropy source, at each scale."""
    input:
        script="scripts/opendp/draw_traces.py",
        modules=modules("scripts/opendp/draw_traces.py"),
    output:
        samples=expand(TRACE, scale=TRACE_SCALES, allow_missing=True),
    log:
        "logs/opendp/trace_{variant}_{entropy}_draws-{draws}.log",
    conda:
        "../../environment.yml"
    params:
        trace="--variant {variant} --entropy {entropy} --draws {draws}",
        scales=[f"--scale {scale}" for scale in TRACE_SCALES.values()],
        samples=lambda wildcards, output: [f"--samples {path}" for path in output.samples],
        seed=config["seed"],
    shell:
        "python {input.script} {params.trace} {params.scales} --seed {params.seed}"
        " {params.samples} --log {log}"


rule count_draws:
    """Count one part of a variant's untraced draws, or of draws by inversion."""
    input:
        script="scripts/opendp/count_draws.py",
        modules=modules("scripts/opendp/count_draws.py"),
    output:
        counts=COUNTS,
    log:
        "logs/opendp/count_{variant}_scale-{scale}_draws-{draws}_part-{part}-of-{parts}.log",
    conda:
        "../../environment.yml"
    params:
        drawn="--variant {variant} --entropy pcg64 --draws {draws} --part {part} --parts {parts}",
        scale=lambda wildcards: DEEP_SCALES[wildcards.scale],
        seed=config["seed"],
    shell:
        "python {input.script} {params.drawn} --scale {params.scale} --seed {params.seed}"
        " --counts {output.counts} --log {log}"


rule tabulate_plrv:
    """The privacy loss of every output of every sample, with certified bounds."""
    input:
        script="scripts/opendp/tabulate_plrv.py",
        modules=modules("scripts/opendp/tabulate_plrv.py"),
        samples=[*SAMPLES, FAULTY_TRACE, FIXED_TRACE, TAYLOR_TRACE],
    output:
        table=ensure("results/opendp/plrv.tsv", non_empty=True),
    log:
        "logs/opendp/tabulate_plrv.log",
    conda:
        "../../environment.yml"
    params:
        alpha=config["alpha"],
    shell:
        "python {input.script} --alpha {params.alpha} --table {output.table} --log {log} {input.samples}"


rule tabulate_releases:
    """Fit, certified epsilon and verdict of every release at every scale."""
    input:
        script="scripts/opendp/tabulate_releases.py",
        modules=modules("scripts/opendp/tabulate_releases.py"),
        samples=SAMPLES,
        plrv="results/opendp/plrv.tsv",
    output:
        table=ensure("results/opendp/releases.tsv", non_empty=True),
    log:
        "logs/opendp/tabulate_releases.log",
    conda:
        "../../environment.yml"
    params:
        alpha=config["alpha"],
    shell:
        "python {input.script} --plrv {input.plrv} --alpha {params.alpha} --table {output.table}"
        " --log {log} {input.samples}"


rule draw_reach:
    """Draw from the mechanisms of one release, and count."""
    input:
        script="scripts/opendp/draw_reach.py",  # which counts, too
        decides=["src/noiseaudit/_draw_from_wheel.py", "src/noiseaudit/releases.py"],
        site="resources/opendp/{release}",
    output:
        counts=REACHED,
    log:
        "logs/opendp/draw_reach_{release}.log",
    conda:
        "../../environment.yml"
    params:
        release="--release {release}",
        mechanisms=lambda wildcards: [
            f"--mechanism {name}" for name in reached_mechanisms(wildcards.release)
        ],
        draws=[f"--{kind} {draws}" for kind, draws in REACH["draws"].items()],
        scales=[f"--scale {plain(scale)}" for scale in REACH["scales"]],
    shell:
        "python {input.script} {params.release} --site {input.site} {params.mechanisms}"
        " {params.draws} {params.scales} --counts {output.counts} --log {log}"


rule tabulate_reach:
    """What OpenDP's mechanisms drew against both laws, and what they pay."""
    input:
        script="scripts/opendp/tabulate_reach.py",
        modules=modules("scripts/opendp/tabulate_reach.py"),
        counts=expand(REACHED, release=RELEASES),
    output:
        table=ensure("results/opendp/reach.tsv", non_empty=True),
    log:
        "logs/opendp/tabulate_reach.log",
    conda:
        "../../environment.yml"
    params:
        alpha=config["alpha"],
        delta=EXACT["delta"],
    shell:
        "python {input.script} --alpha {params.alpha} --delta {params.delta} --table {output.table}"
        " --log {log} {input.counts}"


rule tabulate_layers:
    """Every layer of every trace against its law; the earliest faulty one."""
    input:
        script="scripts/opendp/tabulate_layers.py",
        modules=modules("scripts/opendp/tabulate_layers.py"),
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
        seed=config["seed"],
    shell:
        "python {input.script} --published {input.published} --alpha {params.alpha}"
        " --seed {params.seed} --table {output.table} --log {log} {input.traces}"


rule tabulate_deep:
    """The counted draws of each variant, tested as the releases are."""
    input:
        script="scripts/opendp/tabulate_deep.py",
        modules=modules("scripts/opendp/tabulate_deep.py"),
        counts=COUNTED,
    output:
        table=ensure(f"results/opendp/{DEEP_TABLE}.tsv", non_empty=True),
    log:
        "logs/opendp/tabulate_deep.log",
    conda:
        "../../environment.yml"
    params:
        alpha=config["alpha"],
    shell:
        "python {input.script} --alpha {params.alpha} --table {output.table} --log {log} {input.counts}"


rule tabulate_realised:
    """Epsilon and delta that the faulty law pays, scale by scale: exact, nothing is drawn."""
    input:
        script="scripts/opendp/tabulate_realised.py",
        modules=modules("scripts/opendp/tabulate_realised.py"),
    output:
        table=ensure("results/opendp/realised_privacy.tsv", non_empty=True),
    log:
        "logs/opendp/tabulate_realised.log",
    conda:
        "../../environment.yml"
    params:
        largest_scale=EXACT["largest_scale"],
        sensitivities=[f"--sensitivity {size}" for size in EXACT["sensitivities"]],
    shell:
        "python {input.script} --largest-scale {params.largest_scale} {params.sensitivities}"
        " --table {output.table} --log {log}"


rule tabulate_composition:
    """The epsilon that many draws pay together, faulty and fixed."""
    input:
        script="scripts/opendp/tabulate_composition.py",
        modules=modules("scripts/opendp/tabulate_composition.py"),
    output:
        table=ensure("results/opendp/composition.tsv", non_empty=True),
    log:
        "logs/opendp/tabulate_composition.log",
    conda:
        "../../environment.yml"
    params:
        scales=[f"--scale {scale}" for scale in EXACT["scales"]],
        draws=[f"--draws {size}" for size in EXACT["compositions"]],
        delta=EXACT["delta"],
    shell:
        "python {input.script} {params.scales} {params.draws} --delta {params.delta}"
        " --table {output.table} --log {log}"


rule benchmark_samplers:
    """Time the wheels, the cascade, the reference and NumPy in one interleaved run."""
    input:
        script="benchmarks/samplers.py",
        modules=modules("benchmarks/samplers.py"),
        sites=expand("resources/opendp/{release}", release=timed_releases()),
    output:
        performance=ensure("results/opendp/performance.tsv", non_empty=True),
        growth=ensure("results/opendp/growth.tsv", non_empty=True),
    log:
        "logs/opendp/benchmark_samplers.log",
    priority: 2  # they need every core: at the end the others would wait
    conda:
        "../../environment.yml"
    threads: workflow.cores
    params:
        releases=lambda wildcards, input: [
            f"--release {release} {site}"
            for release, site in zip(timed_releases(), input.sites, strict=True)
        ],
        scale=CONTRAST["scale"],
        scales=[f"--growth-scale {scale}" for scale in TIMED["scales"]],
        size=f"--draws {TIMED['draws']} --rounds {TIMED['rounds']} --seed {config['seed']}",
    shell:
        "python {input.script} {params.releases} --scale {params.scale} {params.scales} {params.size}"
        " --performance {output.performance} --growth {output.growth} --log {log}"


rule count_layer_alarms:
    """How often the diagnosis names a layer of a healthy trace."""
    input:
        script="scripts/opendp/count_layer_alarms.py",
        modules=modules("scripts/opendp/count_layer_alarms.py"),
    output:
        table=ensure("results/opendp/false_alarms.tsv", non_empty=True),
    log:
        "logs/opendp/count_layer_alarms.log",
    conda:
        "../../environment.yml"
    params:
        size=f"--traces {ALARMS['traces']} --draws {ALARMS['draws']} --seed {config['seed']}",
    shell:
        "python {input.script} {params.size} --table {output.table} --log {log}"


rule compare_opendp:
    """Every number that the paper prints, beside that of the cascade or of a wheel."""
    input:
        script="scripts/opendp/compare_opendp.py",
        modules=modules("scripts/opendp/compare_opendp.py"),
        releases="results/opendp/releases.tsv",
        layers="results/opendp/layers.tsv",
        performance="results/opendp/performance.tsv",
        published="resources/published/opendp.tsv",
    output:
        table=ensure("results/opendp/comparison.tsv", non_empty=True),
    log:
        "logs/opendp/compare.log",
    conda:
        "../../environment.yml"
    params:
        contrast=CONTRASTED,
        scale=CONTRAST["scale"],
        alpha=config["alpha"],
    shell:
        "python {input.script} --releases {input.releases} --layers {input.layers}"
        " --performance {input.performance} --published {input.published}"
        " {params.contrast} --scale {params.scale} --alpha {params.alpha}"
        " --table {output.table} --log {log}"


rule claims_opendp:
    """What the source claims in words, and whether it stands."""
    input:
        script="scripts/tabulate_claims.py",
        modules=modules("scripts/tabulate_claims.py"),
        tables=expand(
            "results/opendp/{name}.tsv", name=["releases", "layers", "plrv", "performance"]
        ),
        published="resources/published/opendp.tsv",
    output:
        table=ensure("results/opendp/claims.tsv", non_empty=True),
    log:
        "logs/opendp/claims.log",
    conda:
        "../../environment.yml"
    params:
        contrast=CONTRASTED,
    shell:
        "python {input.script} --opendp {input.tables} {input.published} {params.contrast}"
        " --table {output.table} --log {log}"
