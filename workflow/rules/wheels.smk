# The released wheels, exercised as they were published.


wildcard_constraints:
    package=r"opendp|synthpriv",
    release=r"[0-9.]+",


rule install_release:
    """Download one released wheel, by its hash, into a folder of its own."""
    input:
        script="scripts/install_release.py",
        modules=modules("scripts/install_release.py"),
        pins="workflow/envs/{package}-{release}.txt",
    output:
        site=directory("resources/{package}/{release}"),
    log:
        "logs/install_{package}_{release}.log",
    conda:
        "../../environment.yml"
    params:
        wheel="--package {package} --release {release}",
    shell:
        "python {input.script} {params.wheel} --pins {input.pins} --site {output.site} --log {log}"
