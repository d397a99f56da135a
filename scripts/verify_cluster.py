"""Run the small samples through a Slurm of one node, started here; kill three times, compare bytes.

A job, the node's daemon and Snakemake itself are killed midway, and the run must come to its end with
nothing lost. Then a run on this machine alone takes over what cannot repeat and makes the rest anew: all
its bytes must be the same. Root is needed, and Debian's slurm-wlm and munge.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

import verify_determinism
from noiseaudit import jobs

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")

CONFIGURATION = """# Written by noiseaudit's scripts/verify_cluster.py.
ClusterName=noiseaudit
SlurmctldHost=localhost
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MinJobAge=300
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=2
NodeName=localhost NodeHostname={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory=4000
PartitionName=main Nodes=ALL Default=YES
"""

PLACE = Path("/etc/slurm/slurm.conf")
"""Where Slurm's own commands look, those within jobs too."""

# Without accounting only squeue knows of jobs; a cluster has an account and a partition of its own.
COMMAND = [
    *("--workflow-profile", "profiles/slurm", "--configfile", "config/quick.yaml"),
    *("--slurm-no-account", "--slurm-status-command", "squeue"),
    *("--slurm-init-seconds-before-status-checks", "2"),
    *("--default-resources", "slurm_partition=main", "mem_mb=800", "runtime=30"),
]

PATIENCE = 3600
"""Seconds until a run that does not come to its end is given up."""


@click.command(help=__doc__)
@click.option("--seed", default=20261201, show_default=True, help="Of the moments of the kills.")
def verify_cluster(seed: int) -> None:
    missing = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
    if missing or os.getuid() != 0:
        wanted = "root" if not missing else f"{', '.join(missing)} (Debian: slurm-wlm, munge)"
        raise ValueError(f"this machine: {wanted} not found, but needed to start a Slurm")
    with tempfile.TemporaryDirectory(prefix="noiseaudit-cluster-") as temporary:
        top = Path(temporary)
        clustered, local = top / "clustered", top / "local"
        verify_determinism.copy_of_project(clustered)
        with slurm(top / "slurm") as restart_daemon:
            run_with_kills(clustered, random.Random(seed), restart_daemon)
        expected = verify_determinism.digests(clustered)
        subprocess.run(["cp", "-al", clustered, local], check=True)
        verify_determinism.remove_outputs(local)
        verify_determinism.snakemake("config/quick.yaml", ("all",), local, {"cores": "2"})
        verify_determinism.compare(expected, verify_determinism.digests(local), {"cores": "2"})
    print(f"{len(expected)} outputs equal on Slurm, after three kills, and on this machine alone")


PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])


def system(*command: object) -> None:
    subprocess.run(list(map(str, command)), check=True, env=os.environ | {"PATH": PATH})


@contextmanager
def slurm(folder: Path) -> Iterator[Callable[[], None]]:
    """A Slurm of this one node; yields what kills its daemon and starts it again."""
    if PLACE.exists() and not PLACE.read_text().startswith(CONFIGURATION.splitlines()[0]):
        raise ValueError(f"{PLACE}: another Slurm's found, none expected")
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    PLACE.parent.mkdir(exist_ok=True)
    PLACE.write_text(
        CONFIGURATION.format(folder=folder, host=os.uname().nodename.split(".")[0], cores=2)
    )
    system("install", "-d", "-o", "munge", "-g", "munge", "-m", "0755", "/run/munge")
    system("runuser", "-u", "munge", "--", "munged", "--force")
    system("slurmctld", "-c")
    system("slurmd", "-N", "localhost")

    def restart_daemon() -> None:
        os.kill(int((folder / "slurmd.pid").read_text()), signal.SIGKILL)
        time.sleep(1)
        system("slurmd", "-N", "localhost")

    try:
        yield restart_daemon
    finally:
        system("scancel", "-u", "root")
        system("scontrol", "shutdown")
        os.kill(int(Path("/run/munge/munged.pid").read_text()), signal.SIGTERM)
        PLACE.unlink()


def run_with_kills(
    folder: Path, moments: random.Random, restart_daemon: Callable[[], None]
) -> None:
    """To the end, whatever is killed on the way."""
    run = started(folder)
    for kill in (kill_a_job, restart_daemon):
        wait_for_jobs(run)
        time.sleep(moments.uniform(2, 15))
        kill()
        print(f"killed: {kill.__name__}", file=sys.stderr)
    wait_for_jobs(run)
    run.kill()
    run.wait()
    print("killed: Snakemake", file=sys.stderr)
    snakemake = [sys.executable, "-m", "snakemake"]
    subprocess.run([*snakemake, "--unlock", *COMMAND], cwd=folder, check=True)
    system("scancel", "-u", "root")  # what it had sent, and nobody waits for
    run = started(folder)
    if run.wait(PATIENCE) != 0:
        raise ValueError(f"the run on Slurm failed: {(folder / 'run.log').read_text()[-2000:]}")


def started(folder: Path) -> subprocess.Popen:
    with (folder / "run.log").open("w") as log:
        command = [sys.executable, "-m", "snakemake", *COMMAND]
        return subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)


def running() -> list[str]:
    listed = subprocess.run(
        ["squeue", "-h", "-t", "RUNNING", "-o", "%A"], capture_output=True, text=True, check=True
    )
    return listed.stdout.split()


def wait_for_jobs(run: subprocess.Popen) -> None:
    deadline = time.monotonic() + PATIENCE
    while not running():
        if run.poll() is not None or time.monotonic() > deadline:
            raise ValueError(f"the run on Slurm ended before it was killed, with {run.poll()}")
        time.sleep(0.5)


def kill_a_job() -> None:
    for job in running()[:1]:
        system("scancel", "--signal=KILL", "--full", job)


if __name__ == "__main__":
    jobs.run(verify_cluster)
