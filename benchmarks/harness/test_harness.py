"""The harness's pieces; benchmarks/check runs the whole of it, as short as can be."""

import os
import subprocess
import sys
import time
import unittest
from pathlib import Path

HOME = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(HOME / "benchmarks/harness"), str(HOME / "deploy/lib")]

import bed  # noqa: E402
import figures  # noqa: E402
import machine  # noqa: E402
import misses  # noqa: E402
import peers  # noqa: E402
from figures import Row, Spread, Turn  # noqa: E402


def turn(gigabits, server=1.0, client=1.0, **more):
    return Turn(1, int(gigabits * 1e9 / 8), 1000, 10, 20, client, server, **more)


def row(system, count, connections, *turns):
    return Row(system, peers.SYSTEMS[system].label, count, connections, list(turns))


class FiguresTest(unittest.TestCase):
    def test_the_median_is_in_the_middle(self):
        self.assertEqual(Spread.of([3, 1, 2]), Spread(1, 2, 3))
        self.assertEqual(Spread.of([4, 1, 2, 3]).median, 2.5)
        self.assertEqual(Spread(1, 2, 3).relative(), 1)

    def test_sizes_are_read_as_they_are_written(self):
        for text, count in ("8B", 8), ("4KiB", 4096), ("1MiB", 1 << 20), ("1GiB", 1 << 30):
            self.assertEqual(figures.size(text), count)
            self.assertEqual(figures.size_text(count).replace(" ", ""), text)
        with self.assertRaises(ValueError):
            figures.size("4K")

    def test_numbers_have_three_digits_that_count(self):
        self.assertEqual([figures.number(value) for value in (12345, 12.34, 1.234, 0.1234)], ["12,345", "12.3", "1.23", "0.123"])

    def test_a_ratio_is_of_the_best_other_in_the_same_round(self):
        of_best, of_copy = peers.beside([
            row("railhead-signed", 4096, 1, turn(2), turn(8), turn(3)),
            row("nginx", 4096, 1, turn(1, 1, 0), turn(4, 1, 0), turn(3, 1, 0)),
            row("varnish", 4096, 1, turn(1, 9, 9), turn(1, 9, 9), turn(1, 9, 9)),
            row("nginx", 8192, 1, turn(99, 1, 0))])
        ((_, _, _, throughput, widest, cpu, leanest),) = of_best
        self.assertEqual((throughput, widest, cpu.median, leanest), (Spread(1, 2, 2), "nginx, sendfile", 1, "nginx, sendfile"))
        self.assertEqual(of_copy, [])

    def test_a_one_sided_row_is_compared_with_a_plain_copy_and_a_copy_with_no_cache(self):
        of_best, of_copy = peers.beside([row("railhead-native", 4096, 16, turn(8)), row("railhead-signed", 4096, 16, turn(4)),
                                         row("copy", 4096, 16, turn(10, 0)), row("copy", 4096, 1, turn(1, 0))])
        self.assertEqual(of_best, [])
        ((_, _, label, throughput),) = of_copy
        self.assertEqual((label, throughput.median), (peers.SYSTEMS["railhead-native"].label, 0.8))

    def test_short_noisy_and_busy_runs_are_said(self):
        noisy = row("nginx", 4096, 1, turn(1, other_cores=1.5), turn(2, other_cores=1.5))
        said = figures.doubts([noisy], 2, is_pinned=False)
        self.assertEqual([each.split(" ")[0] for each in said], ["TOO", "NOISY:", "BUSY:", "Nothing"])
        quiet = [row("nginx", 4096, 1, *[turn(1)] * 5)]
        self.assertEqual(figures.doubts(quiet, 5, is_pinned=True), [])

    def test_a_hit_that_the_store_served_is_said(self):
        asking = turn(1, store_cpu=1)
        self.assertTrue(peers.asks_store(row("varnish", 4096, 1, asking)))
        self.assertFalse(peers.asks_store(row("varnish", 4096, 1, turn(1))))
        self.assertFalse(peers.asks_store(row("railhead-strong", 4096, 1, asking)))


class MachineTest(unittest.TestCase):
    def test_a_processes_time_is_that_of_its_children_too(self):
        with subprocess.Popen(["sh", "-c", "sh -c 'while :; do :; done' & echo started; wait"], stdout=subprocess.PIPE) as shell:
            try:
                shell.stdout.readline()
                pids = machine.tree(shell.pid)
                self.assertEqual(len(pids), 2)
                while sum(machine.cpu_seconds(pids).values()) < 0.1:
                    time.sleep(0.01)
                self.assertEqual(machine.cpu_seconds([1 << 30]), {})
                self.assertLess(machine.cpu_seconds([shell.pid])[shell.pid], 0.1)
            finally:
                os.kill(pids[1], 9)
                shell.kill()

    def test_the_machines_time_is_what_was_not_idle(self):
        self.assertAlmostEqual(machine.busy_seconds("cpu  100 1 200 9999 999 3 4 50 0 0\ncpu0 1 2 3\n"), 308 / machine.TICKS)

    def test_a_strayed_server_is_brought_back_to_its_cores(self):
        cores = machine.Cores(pin=True)
        if not cores.is_pinned:
            self.skipTest("one core, or no taskset")
        with subprocess.Popen(["sleep", "60"]) as strayed:
            try:
                cores.hold_on_server([strayed.pid])
                self.assertEqual(len(os.sched_getaffinity(strayed.pid)), cores.servers)
            finally:
                strayed.kill()


class WarmUpTest(unittest.TestCase):
    def turns(self, costs, seconds=2.0, compiles_itself=True):
        left = iter(costs)
        count = 0

        def next_turn():
            nonlocal count
            count += 1
            return Turn(seconds, 1000, 1, 0, 0, 0, next(left))
        bed.warm_up(next_turn, 2, compiles_itself)
        return count

    def test_turns_go_on_while_they_become_cheaper(self):
        self.assertEqual(self.turns([4, 3, 2, 1, 1, 1]), 5)

    def test_short_turns_are_counted_together(self):
        self.assertEqual(self.turns([1] * 99, seconds=0.25), 16)

    def test_once_is_enough_for_what_does_not_compile_itself(self):
        self.assertEqual(self.turns([1] * 9, compiles_itself=False), 1)

    def test_it_ends_though_it_becomes_cheaper_for_ever(self):
        self.assertEqual(self.turns([0.5**n for n in range(99)]), 8)


class OptionsTest(unittest.TestCase):
    def test_options_that_cannot_be_measured_are_misuse(self):
        for parse, options in (
                (peers.arguments, ["--only", "squid"]), (peers.arguments, ["--sizes", "5B"]), (peers.arguments, ["--rounds", "0"]),
                (peers.arguments, ["--only", "copy", "--sizes", "4KiB"]), (misses.arguments, ["--only", "hits"]),
                (misses.arguments, ["--bytes", "5B"]), (misses.arguments, ["--readers", "301"])):
            with self.subTest(options=options), self.assertRaises(SystemExit) as ended:
                parse(options)
            self.assertEqual(ended.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
