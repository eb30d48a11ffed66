"""The machine: its cores, its processes' time, and what it is."""

import contextlib
import datetime
import os
import platform
import shutil
import subprocess
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
# In /proc/stat's first line: user, nice, system, then idle and waiting, irq, softirq.
BUSY = 0, 1, 2, 5, 6


class Cores:
    """Half of the cores for the servers, half for the client, so that neither takes the other's time.

    The store is left to the kernel: hits do not ask it.
    """

    def __init__(self, pin):
        cores = sorted(os.sched_getaffinity(0))
        self.is_pinned = pin and len(cores) > 1 and shutil.which("taskset") is not None
        half = len(cores) // 2
        self._server, self._client = (cores[:half], cores[half:]) if self.is_pinned else (cores, cores)

    @property
    def servers(self):
        """How many threads a server should have."""
        return len(self._server)

    @property
    def clients(self):
        return len(self._client)

    def on_server(self, command):
        return self._pinned(self._server, command)

    def on_client(self, command):
        return self._pinned(self._client, command)

    def _pinned(self, cores, command):
        return ["taskset", "-c", ",".join(map(str, cores)), *command] if self.is_pinned else list(command)

    def hold_on_server(self, pids):
        """Brings all threads back. Traffic Server binds its threads to every core that there is, the client's too."""
        for pid in pids if self.is_pinned else ():
            with contextlib.suppress(FileNotFoundError):
                for thread in Path(f"/proc/{pid}/task").iterdir():
                    with contextlib.suppress(ProcessLookupError):
                        os.sched_setaffinity(int(thread.name), self._server)


def tree(pid):
    """A process and all that descend from it."""
    parents = {}
    for path in Path("/proc").iterdir():
        # Any process may end meanwhile.
        with contextlib.suppress(OSError):
            if path.name.isdigit():
                parents[int(path.name)] = int(_fields(path.name)[1])
    found = [pid]
    for parent in found:
        found += [child for child, of in parents.items() if of == parent]
    return found


def _fields(pid):
    """Of /proc/PID/stat, after the name in brackets, which may contain anything."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()


def cpu_seconds(pids):
    """Of each process, as long as it lives."""
    seconds = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = _fields(pid)
            # utime and stime, fields 14 and 15 of them all.
            seconds[pid] = (int(fields[11]) + int(fields[12])) / TICKS
    return seconds


def busy_seconds(stat=None):
    fields = (stat or Path("/proc/stat").read_text()).split("\n", 1)[0].split()[1:]
    return sum(int(fields[field]) for field in BUSY) / TICKS


class Meter:
    """Processor time of servers, store and link, and of the whole machine, from now until it is read."""

    def __init__(self, **pids):
        self._pids = pids
        self._before = {kind: cpu_seconds(of) for kind, of in pids.items()}
        self._busy, self._began = busy_seconds(), time.monotonic()

    def put_into(self, turn):
        busy, seconds = busy_seconds() - self._busy, time.monotonic() - self._began
        for kind, of in self._pids.items():
            # What ended meanwhile, as nginx's loader of caches does, counts as idle.
            spent = sum(after - self._before[kind][pid] for pid, after in cpu_seconds(of).items() if pid in self._before[kind])
            setattr(turn, f"{kind}_cpu", spent)
            busy -= spent
        turn.other_cores = max(0, busy - turn.client_cpu) / seconds
        return turn


def describe(command, cores):
    """What was typed, when, and on what machine."""
    processor = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                      if line.startswith("model name")), platform.machine())
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    load = " ".join(Path("/proc/loadavg").read_text().split()[:3])
    where = "servers on one half of the cores, the client on the other" if cores.is_pinned else "nothing pinned"
    return (f"`{command}`, {date}: {processor}, {os.cpu_count()} cores, Linux {platform.release()}, "
            f"load {load} before it began; {where}.")


def version(program, option):
    """The first line that a program says of itself; None where it is not installed."""
    found = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin:/sbin")
    if found is None:
        return None
    done = subprocess.run([found, option], capture_output=True, text=True, check=False)
    return found, (done.stdout + done.stderr).strip().split("\n", 1)[0]
