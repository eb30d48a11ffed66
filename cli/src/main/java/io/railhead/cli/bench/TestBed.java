package io.railhead.cli.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.Installation;
import io.railhead.cli.local.LocalStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One store, and before it one gateway and the other caches, all on this machine. The store's
 * buckets may be read by anybody, since the others cannot sign.
 *
 * @param storePid whose processor time is the store's
 */
record TestBed(Map<MeasuredSystem, Server> servers, long storePid, LocalStore.Keys keys) {
    static final String BUCKET = "bench";
    static final String STRONG_BUCKET = "bench-strong";
    private static final Map<String, String> PUBLIC = Map.of("x-amz-acl", "public-read");
    private static final int MIB = 1 << 20;

    /**
     * What it is made of.
     *
     * @param home where {@code benchmarks/peers} is
     * @param recording where the gateway's flight recording goes; null for none
     */
    record Plan(List<MeasuredSystem> contenders, List<Long> sizes, Cores cores, Path home,
            @Nullable Path recording) {

        long bytes() {
            return sizes.stream().mapToLong(Long::longValue).sum();
        }
    }

    static TestBed start(Plan plan, Children children) throws IOException {
        LocalStore.Keys keys = new LocalStore.Keys("BENCHACCESSKEY", "bench-secret-key");
        LocalStore store = LocalStore.start(
                Installation.here().store(), keys, 2 * plan.bytes(), children);
        publish(store, plan);
        Map<MeasuredSystem, Server> servers = new EnumMap<>(MeasuredSystem.class);
        @Nullable
        Server gateway = null;
        for (MeasuredSystem measuredSystem : plan.contenders()) {
            RivalCache rivalCache = RivalCache.of(measuredSystem);
            if (rivalCache == null) {
                gateway = gateway == null ? gateway(plan, store, children) : gateway;
                servers.put(measuredSystem, gateway);
            } else {
                servers.put(measuredSystem, rivalCache.start(measuredSystem, plan.home()
                        .resolve(
                                "benchmarks/peers"),
                        store.endpoint().getPort(),
                        path(BUCKET, plan.sizes().getFirst()), plan.cores(), children));
            }
        }
        TestBed testBed = new TestBed(servers, store.process().pid(), keys);
        for (MeasuredSystem measuredSystem : plan.contenders()) {
            for (long size : plan.sizes()) {
                testBed.fill(measuredSystem, size);
            }
        }
        for (Server server : servers.values()) {
            plan.cores().holdOnServer(server.pids());
        }
        return testBed;
    }

    private static String path(String bucket, long bytes) {
        return "/" + bucket + "/" + BenchObject.key(bytes);
    }

    private static void publish(LocalStore store, Plan plan) throws IOException {
        for (String bucket : List.of(BUCKET, STRONG_BUCKET)) {
            put(store, "/" + bucket, "", Map.of(), new byte[0]);
            put(store, "/" + bucket, "acl=", PUBLIC, new byte[0]);
            for (long size : plan.sizes()) {
                put(store, path(bucket, size), "", PUBLIC, BenchObject.bytes((int) size));
            }
        }
    }

    private static void put(LocalStore store, String path, String query,
            Map<String, String> headers, byte[] body) throws IOException {
        int port = store.endpoint().getPort();
        Map<String, String> all = new HashMap<>(headers);
        all.put("content-length", Integer.toString(body.length));
        RawHttp.Answer answer = RawHttp.exchange(port,
                signer(store.keys(), port).sign("PUT", path, query, all).head(), body);
        if (answer.status() != 200) {
            throw new IOException("the store refused PUT " + path + ": " + answer);
        }
    }

    private static SigV4 signer(LocalStore.Keys keys, int port) {
        return SigV4.at(Instant.now(), keys.accessKey(), keys.secretKey(), RawHttp.host(port));
    }

    private static Server gateway(Plan plan, LocalStore store, Children children)
            throws IOException {
        BenchGateway gateway = BenchGateway.onFreePorts("gateway");
        return gateway.start(configure(plan, store, children.folder(), gateway), plan.cores(),
                plan.recording(), children);
    }

    private static String configure(Plan plan, LocalStore store, Path folder,
            BenchGateway gateway) throws IOException {
        Files.writeString(folder.resolve("credentials.yaml"), """
                principals:
                  - name: bench
                    keys:
                      - access_key: %s
                        secret_key: %s
                    rdma_get: true
                """.formatted(store.keys().accessKey(), store.keys().secretKey()));
        // Both buckets, in whole pages, twice: nothing that is measured is ever evicted.
        long cacheMib = 256 + 4 * (plan.bytes() / MIB);
        return """
                gateway:
                  listen: "127.0.0.1:%d"
                  health: "127.0.0.1:%d"
                  credentials: credentials.yaml
                cache:
                  memory: %dMiB
                backends:
                  store:
                    endpoints: ["%s"]
                rules:
                  - bucket: %s
                    freshness: strong
                  - bucket: %s
                    freshness: immutable
                    authorization: {remember: 1h}
                rdma:
                  loopback: {enabled: true, socket: "%s"}
                  channel: {max_requests: 1024}
                admin: {enabled: false}
                """.formatted(gateway.port(), gateway.health(), cacheMib, store.endpoint(),
                STRONG_BUCKET, BUCKET, folder.resolve("loopback.sock"));
    }

    /** Asks twice, and compares every byte: what is measured is the right object, and held. */
    private void fill(MeasuredSystem measuredSystem, long size) throws IOException {
        int port = server(measuredSystem).port();
        String path = path(measuredSystem.bucket(), size);
        String expected = new String(BenchObject.bytes((int) size), ISO_8859_1);
        for (int time = 0; time < 2; time++) {
            String head = measuredSystem.way == MeasuredRun.Way.UNSIGNED
                    ? "GET " + path + " HTTP/1.1\r\nhost: " + RawHttp.host(port) + "\r\n\r\n"
                    : signer(keys, port).sign("GET", path, "", Map.of()).head();
            RawHttp.Answer answer = RawHttp.exchange(port, head, new byte[0]);
            if (answer.status() != 200 || !answer.body().equals(expected)) {
                throw new IOException(
                        measuredSystem.label + " does not serve " + path + ": " + answer);
            }
        }
    }

    private Server server(MeasuredSystem measuredSystem) {
        return Objects.requireNonNull(servers.get(measuredSystem));
    }

    /** What the client is to do in one turn. */
    MeasuredRun turn(MeasuredSystem measuredSystem, long size, int connections, double lead,
            double seconds) {
        Server server = server(measuredSystem);
        return new MeasuredRun(measuredSystem.way, server.port(), measuredSystem.bucket(), size,
                connections, lead,
                seconds, server.pids(), List.of(storePid), keys.accessKey(), keys.secretKey(),
                null);
    }
}
