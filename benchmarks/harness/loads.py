"""Load of one turn: wrk for hits over HTTP, curl for what is read or written once, and a client of ours for one-sided rows."""

import json
import os
import resource
import shutil
import statistics
import subprocess
import time

import rack
from figures import Turn
from rack import HOME

HERE = HOME / "benchmarks/harness"
# wrk as benchmarks/peers/install builds it; Debian's own reads 8 KiB at a time and is the limit from 64 KiB on.
WRK = HOME / "target/wrk/wrk"
LEAST_REQUESTS = 16
LONGEST = 4


class Failed(Exception):
    """A turn gave no figure that counts; the message says why."""


class Missing(rack.CannotStart):
    """A program that the machine lacks."""


def require_programs():
    """Raises what is missing for any row."""
    if not shutil.which("curl"):
        raise Missing("no curl")
    if not (HOME / "benchmarks/target/lib").is_dir():
        raise Missing("benchmarks/ is not packaged: mvn package -DskipTests -pl cli,benchmarks -am")


def wrk_program():
    return os.environ.get("WRK") or (str(WRK) if WRK.exists() else shutil.which("wrk"))


def wrk_version():
    """Its own first line, and whether it is the patched one. WRK names another."""
    said = subprocess.run([wrk_program(), "-v"], capture_output=True, text=True, check=False)
    patched = wrk_program() == str(WRK)
    return (said.stdout + said.stderr).split(" [")[0] + (", with benchmarks/peers/wrk.patch" if patched else ""), patched


def _run(command):
    """What a command prints, its wall time and its processor time."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, start_new_session=True)
    seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise Failed(f"{command[-1]} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout, seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def wrk(cores, url, headers, head_bytes, connections, seconds, start_meter):
    """GETs of one URL for that long. `head_bytes`, the length of a response's head, is no part of the bodies."""
    threads = max(count for count in range(1, cores.clients + 1) if connections % count == 0)
    flags = [flag for name, value in headers.items() if name != "host" for flag in ("-H", f"{name}: {value}")]
    meter = start_meter()
    printed, _, cpu = _run(cores.on_client([
        wrk_program(), f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--timeout", "60s", "-s", HERE / "report.lua",
        *flags, url]))
    figures = json.loads(printed.splitlines()[-1])
    if figures.pop("errors"):
        raise Failed(f"wrk counted errors: {printed.strip()[-500:]}")
    figures["bytes"] -= figures["requests"] * head_bytes
    if figures["requests"] < LEAST_REQUESTS and seconds < LONGEST:
        return wrk(cores, url, headers, head_bytes, connections, LONGEST * seconds, start_meter)
    return meter.put_into(Turn(client_cpu=cpu, **figures))


class Curl:
    """Transfers that are made once. What curl takes to start is measured first, and is no part of any figure."""

    def __init__(self, cores, folder):
        self._cores, self._config = cores, folder / "curl.config"
        empty = [self._start(["file:///dev/null"]) for _ in range(5)]
        self._seconds, self._cpu = (statistics.median(figure) for figure in list(zip(*empty))[1:])

    def _start(self, arguments):
        return _run(self._cores.on_client(["curl", "--disable", "--silent", "--show-error", *arguments]))

    def measure(self, transfers, connections, start_meter):
        """Each transfer is a URL, its headers, how many bytes it moves, and curl's own options by name."""
        sections = [self._section(*transfer) for transfer in transfers]
        self._config.write_text("next\n".join(sections))
        parallel = ["--parallel", "--parallel-immediate", "--parallel-max", connections] if connections > 1 else []
        meter = start_meter()
        printed, seconds, cpu = self._start([*parallel, "--config", self._config])
        done = [line.split() for line in printed.splitlines()]
        # In parallel the order is that of their ends.
        moved = sorted(max(int(down), int(up)) for _, down, up, _ in done)
        if {status for status, *_ in done} - {"200", "206"} or moved != sorted(count for _, _, count, _ in transfers):
            raise Failed(f"curl moved other bytes than asked for: {printed[:500]}")
        times = sorted(float(taken) * 1e6 for *_, taken in done)
        return meter.put_into(Turn(
            max(seconds - self._seconds, 1e-6), sum(moved), len(done), statistics.median(times),
            times[min(len(times) - 1, int(len(times) * 0.99))], max(cpu - self._cpu, 1e-6)))

    @staticmethod
    def _section(url, headers, _, options):
        lines = {"url": url, "output": "/dev/null", "write-out": r"%{http_code} %{size_download} %{size_upload} %{time_total}\n",
                 **options}
        # Without an answer to wait for before a body is sent.
        headers = {**headers, "Expect": ""}
        return "".join([
            "silent\nshow-error\nhttp1.1\n", *(f'{name} = "{value}"\n' for name, value in lines.items()),
            *(f'header = "{name}: {value}"\n' for name, value in headers.items() if name != "host")])


class OneSided:
    """The client of benchmarks/src/main/java/io/railhead/benchmarks/peers, one process for all turns: it compiles itself."""

    def __init__(self, cores, folder):
        self._log = folder / "one-sided.log"
        guard = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                [*guard, *map(str, cores.on_client(
                    java("io.railhead.benchmarks.peers.OneSidedClient", "-Xmx256m")))],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True)

    def measure(self, start_meter, **order):
        self._process.stdin.write(json.dumps(order, default=str) + "\n")
        self._process.stdin.flush()
        began = self._line()
        meter = start_meter()
        figures = json.loads(began if began.startswith("{") else self._line())
        if "problem" in figures:
            raise Failed(figures["problem"])
        return meter.put_into(Turn(**figures))

    def _line(self):
        line = self._process.stdout.readline().strip()
        if not line:
            raise rack.CannotStart(f"the one-sided client ended:\n{rack.tail(self._log)}")
        return line

    def close(self):
        self._process.stdin.close()
        self._process.wait()


def java(main_class, *options):
    """A main class of the benchmarks' own."""
    packaged = HOME / "benchmarks/target"
    return [rack.java(), "-XX:+UseSerialGC", *options, "--enable-native-access=ALL-UNNAMED",
            "-cp", f"{packaged / 'classes'}:{packaged / 'lib'}/*", main_class]
