# Every figure, and every table that the report shows inline: each has a rule, and all rules one shape.

FIGURES = DPTEXT_FIGURES | OPENDP_FIGURES | DPECDF_FIGURES | AUDIT_FIGURES | COMPARISON_FIGURE
PAGES = DPTEXT_PAGES | OPENDP_PAGES | DPECDF_PAGES | AUDIT_PAGES | COMPARISON_PAGES

for place, shown in FIGURES.items():
    figure_name = Path(place).name
    script = str(Path("scripts", place).with_name(f"plot_{figure_name}.py"))

    rule:
        name:
            f"plot_{figure_name}"
        input:
            **shown["inputs"],
            script=script,
            modules=modules(script),
        output:
            **drawing(place, shown["label"]),
        log:
            str(Path("logs", place).with_name(f"plot_{figure_name}.log")),
        group:
            "review"
        conda:
            "../../environment.yml"
        params:
            files=options,
            options=shown["options"],
        shell:
            "python {input.script} {params.files} {params.options} --figure {output.png} --log {log}"


for place, shown in PAGES.items():
    table_name = "_".join(Path(place).parts)

    rule:
        name:
            f"render_{table_name}"
        input:
            script="scripts/render_table.py",
            modules=modules("scripts/render_table.py"),
            template="workflow/templates/table.html.j2",
            table=f"results/{place}.tsv",
        output:
            page=report(
                f"results/{place}.html",
                caption=f"../report/{shown['caption'] or Path(place).name}.rst",
                category=CATEGORIES[Path(place).parts[0]],
                labels={"figure": shown["label"]},
            ),
        log:
            str(Path("logs", place).with_name(f"render_{table_name}.log")),
        group:
            "review"
        conda:
            "../../environment.yml"
        params:
            title=shown["title"],
            columns=[f"--column {name}" for name in shown["columns"]],
        shell:
            "python {input.script} --table {input.table} --template {input.template}"
            " --title {params.title:q} {params.columns} --page {output.page} --log {log}"


rule plot_audit_evidence:
    """What the audit of one card saw."""
    input:
        script="scripts/audits/plot_audit_evidence.py",
        modules=modules("scripts/audits/plot_audit_evidence.py"),
        verdict="results/audits/{card}.json",
    output:
        **drawing("audits/{card}", "{card}", caption="audit_evidence"),
    log:
        "logs/audits/plot_{card}.log",
    group:
        "review"
    conda:
        "../../environment.yml"
    shell:
        "python {input.script} --verdict {input.verdict} --figure {output.png} --log {log}"
