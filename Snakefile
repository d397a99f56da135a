# noiseaudit: three studies of differentially private noise, replicated on the released software.
#
#   snakemake --cores all                                   everything, at the papers' scale
#   snakemake --cores all --configfile config/quick.yaml    everything, on small samples
#   snakemake --cores all opendp                            one study (dptext, opendp, dpecdf)
#   snakemake --cores all audits                            the noise of every card in audits/
#   snakemake --cores all wheels                            what needs the network
#   snakemake --cores all figures/opendp/artifacts.png      one figure
#   snakemake -n                                            what would run, and why


configfile: f"{workflow.basedir}/config/config.yaml"


report: "results/landing.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/wheels.smk"
include: "workflow/rules/dptext.smk"
include: "workflow/rules/opendp.smk"
include: "workflow/rules/dpecdf.smk"
include: "workflow/rules/audits.smk"
include: "workflow/rules/notebooks.smk"
include: "workflow/rules/report.smk"


# On a cluster these stay where Snakemake runs: they need the network, or nothing.
localrules:
    all,
    wheels,
    dptext,
    opendp,
    dpecdf,
    audits,
    install_release,
    draw_audit,


onstart:
    # On one machine cores limit the jobs. The scheduler's own limit of a hundred jobs a second would start a
    # timer at every pass, and with it one more pass a second for each job that ever finished.
    limiter = workflow.scheduler.job_rate_limiter
    if workflow.local_exec and limiter and (limiter.max_jobs, limiter.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None


rule all:
    """Every figure, table and executed notebook."""
    default_target: True
    input:
        DPTEXT,
        OPENDP,
        DPECDF,
        AUDIT_OUTPUTS,
        COMPARISON,


rule wheels:
    """The released wheels: what the network is needed for, besides the environment."""
    input:
        expand("resources/opendp/{release}", release=RELEASES),
        expand("resources/synthpriv/{release}", release=SYNTHPRIV),


rule dptext:
    """The sanity check of DPText, ADePT and their controls."""
    input:
        DPTEXT,


rule opendp:
    """The discrete Laplace noise of the OpenDP releases."""
    input:
        OPENDP,


rule dpecdf:
    """The private ECDF of synthpriv, and the hardened one."""
    input:
        DPECDF,


rule audits:
    """The noise of every card in audits/, and what the audit itself can see."""
    input:
        AUDIT_OUTPUTS,
