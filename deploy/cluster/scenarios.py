"""What happens to the gateways, and what clients must see. Each returns its figures, or raises AssertionError."""

import contextlib
import socket
import ssl
import threading
import time

import load
import place
import s3

MISSED = place.LEASE_SECONDS + 0.5
# Of a rolling restart: what is kept, and what must hold of it.
KEPT_OBJECTS, KEPT_BYTES = 12, 4 << 20
WARM, SECONDS_TO_WARM = 0.9, 60
MOST_SHARES = 1.2
SCENARIOS = {}


def scenario(function):
    SCENARIOS[function.__name__.replace("_", "-")] = function
    return function


def require(condition, what):
    if not condition:
        raise AssertionError(what)


def sound(clients):
    require(not clients.faults(), clients.faults())
    return {"reads": clients.counts["reads"], "writes": clients.counts["writes"], "failed": 0, "wrong": 0, "stale": 0}


def not_delayed_beyond(clients, since, allowed, what):
    """How much longer than any before it a PUT since that moment took."""
    delay = max(0.0, clients.longest_put(since) - clients.longest_put(until=since))
    require(delay <= allowed, f"a PUT was delayed by {delay:.1f} s {what}; {allowed} s are allowed")
    return round(delay, 2)


@scenario
def kill(rack, options):
    """SIGKILL of a member: the others see it, no read through them fails, writes wait for the lease at most; it comes back."""
    first, second, victim = rack.gateways
    with load.Load(options.reference, [first, second], [first, second]) as clients:
        time.sleep(3)
        begun = time.monotonic()
        victim.kill()
        seen = place.wait_for(lambda: first.members() == second.members() == 2, "two members after a kill", 10)
        time.sleep(4)
        delay = not_delayed_beyond(clients, begun, MISSED, "by the kill")
        victim.start()
        victim.await_ready()
        back = rack.settle()
        time.sleep(2)
    return {**sound(clients), "seen_s": round(seen, 2), "put_delay_s": delay, "back_s": round(back, 1)}


@scenario
def pause(rack, options):
    """SIGSTOP for less and for more than the lease: what was written meanwhile is seen by each read through the paused one."""
    first, second, paused = rack.gateways
    delays = []
    with load.Load(options.reference, [first, second], rack.gateways) as clients:
        time.sleep(2)
        for seconds in 1, 3, 7:
            begun, writes = time.monotonic(), clients.counts["writes"]
            with stopped(paused):
                time.sleep(seconds)
                written = clients.counts["writes"] - writes
            delays.append(not_delayed_beyond(clients, begun, MISSED, f"by a pause of {seconds} s"))
            time.sleep(2)
            rack.settle()
    require(written, "nothing was written during the pause")
    return {**sound(clients), "put_delay_s": max(delays)}


@contextlib.contextmanager
def stopped(gateway):
    gateway.pause()
    try:
        yield
    finally:
        gateway.go_on()


@scenario
def partition(rack, options):
    """A member is cut off both ways, then hears nobody, then is heard by nobody; the store is there for all."""
    first, second, cut_off = rack.gateways
    others = first.host, second.host
    cuts = {"both": (cut_off.host.hear_nothing_of, cut_off.host.say_nothing_to),
            "deaf": (cut_off.host.hear_nothing_of,), "mute": (cut_off.host.say_nothing_to,)}
    figures = {}
    with load.Load(options.reference, rack.gateways, rack.gateways) as clients:
        time.sleep(2)
        for name, ways in cuts.items():
            begun = time.monotonic()
            try:
                for way in ways:
                    way(*others)
                place.wait_for(lambda: not cut_off.has_lease() and not first.has_lease(), f"{name}: no lease on either side", 15)
                time.sleep(6)
            finally:
                cut_off.host.heal()
            figures[f"{name}_put_delay_s"] = not_delayed_beyond(clients, begun, MISSED, f"by the cut '{name}'")
            figures[f"{name}_merged_s"] = round(rack.settle(), 1)
            time.sleep(2)
    return {**sound(clients), **figures}


@scenario
def overwrite(rack, options):
    """PUT through one gateway, then GET through each, again and again: new bytes always."""
    reference, old = options.reference, 0
    clients = [s3.S3(gateway.endpoint, place.KEYS) for gateway in rack.gateways]
    for number in range(options.count):
        for bucket in "bounded", "immutable":
            path = f"/{bucket}/overwritten-{number % 2}"
            version, body = reference.begin(path, 50_000)
            status, _ = clients[number % 3].request("PUT", path, body)
            require(status == 200, f"a PUT was answered with {status}")
            reference.acknowledge(path, version)
            for client in clients:
                status, got = client.request("GET", path)
                require(status == 200, f"a GET was answered with {status}")
                old += bool(reference.judge(path, version, got))
    reads = 2 * 3 * options.count
    require(old == 0, f"old bytes in {old} reads of {reads}")
    return {"reads": reads, "writes": 2 * options.count, "old": 0}


@scenario
def cold(rack, options):
    """Many readers at once of objects that no gateway has: what the store is asked for."""
    runs, objects, readers = 4, 3, 8
    size = runs * place.RUN_BYTES
    reference = options.reference
    paths = [f"/immutable/cold-{number}" for number in range(objects)]
    bodies = {}
    for path in paths:
        _, bodies[path] = reference.begin(path, size)
        require(s3.S3(rack.store, place.KEYS).request("PUT", path, bodies[path])[0] == 200, "a PUT to the store failed")
    before, bad = requests(rack), []
    for path, expected in bodies.items():
        all_at_once = [threading.Thread(target=read_cold, args=(gateway, path, expected, bad))
                       for gateway in rack.gateways for _ in range(readers)]
        for thread in all_at_once:
            thread.start()
        for thread in all_at_once:
            thread.join()
    require(not bad, f"{len(bad)} of {3 * readers * objects} reads: {bad[:3]}")
    gets, heads = (now - then for now, then in zip(requests(rack), before, strict=True))
    least, most = runs * objects, 2 * runs * objects
    require(gets >= least, f"{gets:.0f} GETs at the store cannot have brought {least} runs: the count shows nothing")
    require(gets <= most, f"{gets:.0f} GETs at the store for {objects} objects of {runs} runs; {most} are allowed; "
            f"members' questions: {peer_fills(rack)}")
    return {"reads": 3 * readers * objects, "wrong": 0, "objects": objects, "runs_each": runs, "store_gets": int(gets),
            "store_heads": int(heads), "peer_fills": peer_fills(rack)}


def peer_fills(rack):
    """How the members' questions for each other's pages ended."""
    ends = ("filled", "handed_over", "not_held", "refused", "busy", "silent", "unreachable", "broken", "damaged", "unwanted",
            "skipped")
    counts = {end: int(rack.total("railhead_cluster_peer_fills_total", result=end)) for end in ends}
    return {end: count for end, count in counts.items() if count}


def read_cold(gateway, path, expected, bad):
    try:
        status, got = s3.S3(gateway.endpoint, place.KEYS).request("GET", path)
        if status != 200 or got != expected:
            bad.append(f"status {status}, {len(got)} bytes")
    except OSError as problem:
        bad.append(repr(problem))


def requests(rack):
    """GETs of objects and HEADs that the gateways have sent to the store."""
    gets, ranged, heads = (rack.total("railhead_backend_requests_total", kind=kind) for kind in ("get", "ranged_get", "head"))
    return gets + ranged, heads


@scenario
def rolling(rack, options):
    """Each member is restarted in turn under load: no request fails that is repeated as SDKs do, and the cache stays warm."""
    reference = options.reference
    paths = [f"/kept/{number}" for number in range(KEPT_OBJECTS)]
    store = s3.S3(rack.store, place.KEYS)
    for path in paths:
        version, body = reference.begin(path, KEPT_BYTES)
        require(store.request("PUT", path, body)[0] == 200, "a PUT to the store failed")
        reference.acknowledge(path, version)
    read_all(reference, rack.gateways, paths)
    fetched, ratios = 0, []
    with load.Load(reference, rack.gateways, rack.gateways, attempts=s3.ATTEMPTS) as clients:
        for gateway in rack.gateways:
            others = [each for each in rack.gateways if each is not gateway]
            before = store_bytes(others)
            gateway.stop()
            time.sleep(1)
            read_all(reference, others, paths)
            gateway.start()
            gateway.await_ready()
            rack.settle()
            ready = time.monotonic()
            ratios.append(round(read_all(reference, rack.gateways, paths), 2))
            # The restarted gateway counts from 0.
            fetched += store_bytes(rack.gateways) - before
    last = first = read_all(reference, rack.gateways, paths)
    while last < WARM and time.monotonic() - ready < SECONDS_TO_WARM:
        last = read_all(reference, rack.gateways, paths)
    require(last >= WARM, f"hit ratio {last:.2f}, {SECONDS_TO_WARM} s after the last restart")
    # The restarts lose one share each: together all of it, once.
    shares = fetched / (KEPT_OBJECTS * KEPT_BYTES)
    require(shares <= MOST_SHARES, f"{shares:.2f} of all bytes came from the store; {MOST_SHARES} are allowed")
    return {**sound(clients), "hit_ratio_after_each": ratios, "hit_ratio": round(last, 2),
            "hit_ratio_at_once": round(first, 2), "store_bytes_of_all": round(shares, 2)}


def store_bytes(gateways):
    """What came from the store of the objects that are kept."""
    return sum(gateway.figure("railhead_usage_store_bytes_total", bucket="kept") for gateway in gateways)


def read_all(reference, gateways, paths):
    """Each object through each of these gateways; the share of reads that needed no byte of the store."""
    def counts():
        return [sum(gateway.figure(f"railhead_usage_{what}_total", bucket="kept") for gateway in gateways)
                for what in ("hits", "misses")]
    before = counts()
    for gateway in gateways:
        client = s3.S3(gateway.endpoint, place.KEYS)
        for path in paths:
            oldest = reference.oldest(path)
            status, got = client.request("GET", path)
            require(status == 200, f"a GET was answered with {status}")
            require(not reference.judge(path, oldest, got), f"{path} through {gateway.name} has wrong or old bytes")
    hits, misses = (now - then for now, then in zip(counts(), before, strict=True))
    return hits / max(1, hits + misses)


@scenario
def wrong_ca(rack, options):
    """A gateway of another authority joins nothing and gets no bytes, and no port answers without a member's certificate."""
    stranger = place.Gateway(rack, rack.hosts[3], authority="strangers")
    stranger.start()
    try:
        stranger.await_ready()
        with load.Load(options.reference, rack.gateways, [*rack.gateways, stranger]) as clients:
            time.sleep(8)
            require(rack.alone or all(gateway.members() == 3 and gateway.has_lease() for gateway in rack.gateways),
                    "the stranger changed the view of the members")
        require(stranger.members() == 1, f"the stranger sees {stranger.members()} members, itself included")
        require(not stranger.has_lease(), "the stranger has a lease")
        received = stranger.figure("railhead_cluster_peer_bytes_total", direction="in")
        require(received == 0, f"the stranger got {received:.0f} bytes")
    finally:
        stranger.stop()
    address = rack.gateways[0].host.address
    require(answer(rack, address, "members"), "a member's certificate gets no answer: the probe shows nothing")
    for who in "strangers", None:
        require(not answer(rack, address, who), f"the port of fills answers to a certificate of {who}")
    return {**sound(clients), "peer_bytes_in": 0}


def answer(rack, address, who):
    """The first bytes that the port of fills gives to a certificate of this authority, or to none."""
    context = ssl.create_default_context(cafile=rack.authorities.folder / "members-ca.pem")
    context.check_hostname = False
    if who:
        context.load_cert_chain(rack.authorities.folder / f"{who}.pem", rack.authorities.folder / f"{who}.key")
    try:
        with socket.create_connection((address, place.FILLS_PORT), 5) as plain, context.wrap_socket(plain) as secure:
            secure.sendall(b"GET /nothing HTTP/1.1\r\nHost: member\r\nConnection: close\r\n\r\n")
            return secure.recv(100)
    except OSError:
        return b""


@scenario
def slow_link(rack, options):
    """A member's link is slowed to 8 Mbit/s under load: requests take longer, and nothing else."""
    slow = rack.gateways[2]
    with load.Load(options.reference, rack.gateways[:2], rack.gateways, readers_each=1) as clients:
        time.sleep(2)
        slow.host.slow_down("8mbit")
        try:
            time.sleep(8)
        finally:
            slow.host.speed_up()
        rack.settle()
    return sound(clients)
