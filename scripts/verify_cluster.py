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
from contextlib import ExitStack, contextmanager
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
NodeName=localhost NodeHostname={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=4000
PartitionName=main Nodes=ALL Default=YES
"""

PLACE = Path("/etc/slurm/slurm.conf")
"""Where Slurm's own commands look, those within jobs too."""

MUNGE = Path("/run/munge/munged.pid")
"""There while a munged runs."""

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
    if PLACE.exists() or MUNGE.exists():
        raise ValueError(f"this machine: {PLACE} or {MUNGE} found, another Slurm's; none expected")
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
    unseeded = sum(name.startswith(verify_determinism.UNSEEDED) for name in expected)
    print(
        f"{len(expected) - unseeded} outputs equal on Slurm, after three kills, and on this machine "
        f"alone; {unseeded} not compared: they come from the operating system's entropy"
    )


PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])


def system(*command: object) -> None:
    subprocess.run(list(map(str, command)), check=True, env=os.environ | {"PATH": PATH})


@contextmanager
def slurm(folder: Path) -> Iterator[Callable[[], None]]:
    """A Slurm of this one node; yields what kills its daemon and starts it again."""
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    PLACE.parent.mkdir(exist_ok=True)
    host = os.uname().nodename.split(".")[0]
    with ExitStack() as stack:
        stack.callback(PLACE.unlink)
        PLACE.write_text(CONFIGURATION.format(folder=folder, host=host))
        system("install", "-d", "-o", "munge", "-g", "munge", "-m", "0755", MUNGE.parent)
        stack.callback(end, MUNGE)
        system("runuser", "-u", "munge", "--", "munged")
        stack.callback(end, folder / "slurmctld.pid")
        system("slurmctld", "-c")
        stack.callback(end, folder / "slurmd.pid")
        system("slurmd", "-N", "localhost")
        stack.callback(subprocess.run, ["scancel", "-u", "root"], check=False)

        def restart_daemon() -> None:
            os.kill(int((folder / "slurmd.pid").read_text()), signal.SIGKILL)
            time.sleep(1)
            system("slurmd", "-N", "localhost")

        yield restart_daemon


def end(pid_file: Path) -> None:
    """A daemon, if it came so far as to write its number; waits until it is gone."""
    try:
        number = int(pid_file.read_text())
        os.kill(number, signal.SIGTERM)
    except (OSError, ValueError):
        return
    deadline = time.monotonic() + 30
    while Path(f"/proc/{number}").exists() and time.monotonic() < deadline:
        time.sleep(0.2)
    pid_file.unlink(missing_ok=True)


def run_with_kills(
    folder: Path, moments: random.Random, restart_daemon: Callable[[], None]
) -> None:
    """To the end, whatever is killed on the way."""
    with started(folder) as run:
        for kill in (kill_a_job, restart_daemon):
            wait_for_jobs(run)
            time.sleep(moments.uniform(2, 15))
            wait_for_jobs(run)
            kill()
            print(f"killed: {kill.__name__}", file=sys.stderr)
        wait_for_jobs(run)
    print("killed: Snakemake", file=sys.stderr)
    # As the page on clusters says: what it had sent is nobody's any more.
    system("scancel", "-u", "root")
    snakemake = [sys.executable, "-m", "snakemake"]
    subprocess.run([*snakemake, "--unlock", *COMMAND], cwd=folder, check=True)
    with started(folder) as run:
        status = run.wait(PATIENCE)
    if status != 0:
        raise ValueError(f"the run on Slurm failed: {(folder / 'run.log').read_text()[-2000:]}")


@contextmanager
def started(folder: Path) -> Iterator[subprocess.Popen]:
    """Snakemake in the background, killed at the end of the block if it still runs."""
    with (folder / "run.log").open("a") as log:
        command = [sys.executable, "-m", "snakemake", *COMMAND]
        run = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        yield run
    finally:
        run.kill()
        run.wait()


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
    system("scancel", "--signal=KILL", "--full", running()[0])


if __name__ == "__main__":
    jobs.run(verify_cluster)
