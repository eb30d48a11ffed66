"""Figures of turns: their spread over the rounds, ratios, doubts, and Markdown."""

import dataclasses
import statistics

GIB = 1 << 30
LEAST_ROUNDS = 5
MOST_SPREAD = 0.3
MOST_OTHER_CORES = 0.1


@dataclasses.dataclass
class Turn:
    """What one turn gave. Times are seconds; CPU is user and system time of a process and those that it started."""

    seconds: float
    bytes: int
    requests: int
    p50_us: float
    p99_us: float
    client_cpu: float
    server_cpu: float = 0
    store_cpu: float = 0
    link_cpu: float = 0
    # Cores whose time went to none of these: other work on the machine.
    other_cores: float = 0

    def gigabits(self):
        return self.bytes * 8 / 1e9 / self.seconds

    def per_gib(self, *kinds):
        """Seconds of these kinds' processor time for each GiB."""
        return sum(getattr(self, f"{kind}_cpu") for kind in kinds) * GIB / self.bytes


@dataclasses.dataclass
class Spread:
    """A figure over its rounds."""

    least: float
    median: float
    most: float

    @classmethod
    def of(cls, values):
        values = list(values)
        return cls(min(values), statistics.median(values), max(values))

    def relative(self):
        return (self.most - self.least) / self.median if self.median else 0

    def __str__(self):
        return f"{number(self.median)} ({number(self.least)} to {number(self.most)})"


@dataclasses.dataclass
class Row:
    """Every round of one system at one size and number of connections."""

    system: str
    label: str
    bytes: int
    connections: int
    turns: list

    def spread(self, figure):
        return Spread.of(figure(turn) for turn in self.turns)

    def gigabits(self):
        return self.spread(Turn.gigabits)

    def per_gib(self, *kinds):
        return self.spread(lambda turn: turn.per_gib(*kinds))

    def is_noisy(self):
        return self.gigabits().relative() > MOST_SPREAD


def ratio(ours, theirs, figure):
    """Of the rounds' own ratios, since what disturbs a round disturbs all of it."""
    return Spread.of(figure(mine) / figure(other) for mine, other in zip(ours.turns, theirs.turns))


def doubts(rows, rounds, is_pinned):
    """What a reader must know before believing a figure, by the figures themselves."""
    found = []
    if rounds < LEAST_ROUNDS:
        found.append(f"TOO SHORT to conclude anything from: {rounds} rounds, {LEAST_ROUNDS} at least")
    noisy = sum(row.is_noisy() for row in rows)
    if noisy:
        found.append(f"NOISY: in {noisy} of {len(rows)} rows the rounds lie more than {MOST_SPREAD:.0%} apart (marked ~)")
    others = statistics.median(row.spread(lambda turn: turn.other_cores).median for row in rows) if rows else 0
    if others > MOST_OTHER_CORES:
        found.append(f"BUSY: other work took {others:.2f} of the machine's cores (median of all rows)")
    if not is_pinned:
        found.append("Nothing was pinned: server and client took each other's time.")
    return found


def number(value):
    """Three digits that count."""
    decimals = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{decimals}f}"


def size_text(count):
    for unit, factor in ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10):
        if count % factor == 0:
            return f"{count // factor} {unit}"
    return f"{count} B"


def size(text):
    """Bytes of a text such as 4KiB."""
    for unit, factor in ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1):
        if text.endswith(unit):
            return int(text.removesuffix(unit)) * factor
    raise ValueError(f"not a size such as 4KiB: {text}")


def table(head, lines):
    return "\n".join(["", "| " + " | ".join(head) + " |", "|---" * len(head) + "|",
                      *("| " + " | ".join(map(str, line)) + " |" for line in lines), ""])
