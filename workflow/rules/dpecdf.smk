# The private ECDF of synthpriv: audited as it was released, and hardened.

SYNTHPRIV = config["dpecdf"]["releases"]
UTILITY = config["dpecdf"]["utility"]
ECDF_TIMED = config["dpecdf"]["benchmark"]
AUDITS = config["dpecdf"]["false_alarms"]
SUBJECTS = ["original", "hardened"] if SYNTHPRIV else ["hardened"]
GENUINE = f"resources/synthpriv/{SYNTHPRIV[0]}" if SYNTHPRIV else []

DPECDF_FIGURES = {
    # Private ECDFs over the true ones.
    "dpecdf/fits": figure(
        "fits", options=f"--epsilon 1 --epsilon 0.05 --rows 2000 --bins 200 --seed {config['seed']}"
    ),
    # Error against epsilon, bins and rows.
    "dpecdf/utility": figure("utility", table="results/dpecdf/utility.tsv"),
    # What each attack certifies against the claim.
    "dpecdf/audit": figure("audit", table="results/dpecdf/audit.tsv"),
}

DPECDF_PAGES = {
    "dpecdf/audit": page(
        "table: audit",
        "Attacks on the private ECDF",
        "attack subject verdict claimed_epsilon loss loss_low loss_high exact_loss repeats"
        " promise does remedy",
    ),
}

# What needs no wheel.
DPECDF = [
    *expand("figures/{name}.{format}", name=DPECDF_FIGURES, format=FORMATS),
    *expand("results/dpecdf/{name}.tsv", name=["audit", "utility", "false_alarms"]),
]

if SYNTHPRIV:
    DPECDF += [
        "results/dpecdf/audit.html",
        "results/dpecdf/agreement.tsv",
        "results/dpecdf/performance.tsv",
        "results/notebooks/dpecdf.ipynb",
        "results/notebooks/dpecdf.html",
    ]


wildcard_constraints:
    subject=r"original|hardened",


rule compare_classes:
    """Our class against the genuine one on random configurations."""
    input:
        script="scripts/dpecdf/compare_classes.py",
        modules=modules("scripts/dpecdf/compare_classes.py"),
        site=GENUINE,
    output:
        table=ensure("results/dpecdf/agreement.tsv", non_empty=True),
    log:
        "logs/dpecdf/compare_classes.log",
    conda:
        "../../environment.yml"
    params:
        release=SYNTHPRIV,
        configurations=config["dpecdf"]["configurations"],
        seed=config["seed"],
    shell:
        "python {input.script} --site {input.site} --release {params.release}"
        " --configurations {params.configurations} --seed {params.seed}"
        " --table {output.table} --log {log}"


rule audit_ecdf:
    """Attack one class, and count what the attacker sees."""
    input:
        script="scripts/dpecdf/audit_ecdf.py",
        modules=modules("scripts/dpecdf/audit_ecdf.py"),
        site=lambda wildcards: GENUINE if wildcards.subject == "original" else [],
    output:
        table="results/dpecdf/audit/{subject}.tsv",
    log:
        "logs/dpecdf/audit_{subject}.log",
    conda:
        "../../environment.yml"
    params:
        subject="{subject}",
        genuine=lambda wildcards, input: (
            f"--site {input.site} --release {SYNTHPRIV[0]}" if input.site else ""
        ),
        epsilon=config["dpecdf"]["epsilon"],
        repeats=config["dpecdf"]["repeats"],
        alpha=config["alpha"] / len(SUBJECTS),
        seed=config["seed"],
    shell:
        "python {input.script} --subject {params.subject} {params.genuine}"
        " --epsilon {params.epsilon} --repeats {params.repeats} --alpha {params.alpha}"
        " --seed {params.seed} --table {output.table} --log {log}"


rule tabulate_audit:
    """What the attacks certify."""
    input:
        script="scripts/dpecdf/tabulate_audit.py",
        modules=modules("scripts/dpecdf/tabulate_audit.py"),
        counts=expand("results/dpecdf/audit/{subject}.tsv", subject=SUBJECTS),
    output:
        table=ensure("results/dpecdf/audit.tsv", non_empty=True),
    log:
        "logs/dpecdf/tabulate_audit.log",
    conda:
        "../../environment.yml"
    shell:
        "python {input.script} --table {output.table} --log {log} {input.counts}"


rule measure_utility:
    """How far private ECDFs are from the column's own."""
    input:
        script="scripts/dpecdf/measure_utility.py",
        modules=modules("scripts/dpecdf/measure_utility.py"),
    output:
        table=ensure("results/dpecdf/utility.tsv", non_empty=True),
    log:
        "logs/dpecdf/measure_utility.log",
    conda:
        "../../environment.yml"
    params:
        settings=[
            *(f"--epsilon {epsilon}" for epsilon in UTILITY["epsilons"]),
            *(f"--bins {bins}" for bins in UTILITY["bins"]),
            *(f"--rows {rows}" for rows in UTILITY["rows"]),
        ],
        repetitions=UTILITY["repetitions"],
        alpha=0.05,
        seed=config["seed"],
    shell:
        "python {input.script} {params.settings} --repetitions {params.repetitions}"
        " --alpha {params.alpha} --seed {params.seed} --table {output.table} --log {log}"


rule benchmark_ecdf:
    """Time a fit and the quantiles of each class in one interleaved run."""
    input:
        script="benchmarks/ecdf.py",
        modules=modules("benchmarks/ecdf.py"),
        site=GENUINE,
    output:
        table=ensure("results/dpecdf/performance.tsv", non_empty=True),
    log:
        "logs/dpecdf/benchmark_ecdf.log",
    priority: 2  # they need every core: at the end the others would wait
    conda:
        "../../environment.yml"
    threads: workflow.cores
    params:
        release=SYNTHPRIV,
        rows=ECDF_TIMED["rows"],
        bins=ECDF_TIMED["bins"],
        rounds=ECDF_TIMED["rounds"],
        seed=config["seed"],
    shell:
        "python {input.script} --site {input.site} --release {params.release}"
        " --rows {params.rows} --bins {params.bins} --rounds {params.rounds}"
        " --seed {params.seed} --table {output.table} --log {log}"


rule count_attack_alarms:
    """How often the audit flags a healthy configuration."""
    input:
        script="scripts/dpecdf/count_attack_alarms.py",
        modules=modules("scripts/dpecdf/count_attack_alarms.py"),
    output:
        table=ensure("results/dpecdf/false_alarms.tsv", non_empty=True),
    log:
        "logs/dpecdf/count_attack_alarms.log",
    conda:
        "../../environment.yml"
    params:
        audits=AUDITS["audits"],
        repeats=AUDITS["repeats"],
        seed=config["seed"],
    shell:
        "python {input.script} --audits {params.audits} --repeats {params.repeats}"
        " --seed {params.seed} --table {output.table} --log {log}"


rule compare_dpecdf:
    """Each promise of the class's text beside what was found."""
    input:
        script="scripts/dpecdf/compare_dpecdf.py",
        modules=modules("scripts/dpecdf/compare_dpecdf.py"),
        audit="results/dpecdf/audit.tsv",
    output:
        table=ensure("results/dpecdf/comparison.tsv", non_empty=True),
    log:
        "logs/dpecdf/compare.log",
    conda:
        "../../environment.yml"
    shell:
        "python {input.script} --audit {input.audit} --table {output.table} --log {log}"


rule claims_dpecdf:
    """What the source claims in words, and whether it stands."""
    input:
        script="scripts/tabulate_claims.py",
        modules=modules("scripts/tabulate_claims.py"),
        audit="results/dpecdf/audit.tsv",
    output:
        table=ensure("results/dpecdf/claims.tsv", non_empty=True),
    log:
        "logs/dpecdf/claims.log",
    conda:
        "../../environment.yml"
    shell:
        "python {input.script} --dpecdf {input.audit} --table {output.table} --log {log}"
