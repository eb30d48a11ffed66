package io.railhead.gateway.accounting;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Ten thousand principals in a thousand tenants, each with two buckets. Times are printed and not
 * asserted; {@code -Drailhead.measure=true} compares latencies with those of one principal.
 */
class ManyTenantsIT {
    private static final int TENANTS = 1000;
    private static final int PRINCIPALS = 10_000;
    private static final int CONNECTIONS = 16;
    private static final int BYTES = 4096;
    private static final int MOST_SERIES = 20_000;
    private static final String RULES = "rules: [{freshness: immutable, shared: true}]\n";
    private static final String LIMITED = RULES
            + "gateway: {admission: {rate: {requests: 1000000, bytes: 1TiB}}}\n";
    private static final FakeStore STORE = new FakeStore();

    @AfterAll
    static void close() {
        STORE.close();
    }

    private static String principals(int count) {
        StringBuilder yaml = new StringBuilder("principals:\n");
        for (int i = 0; i < count; i++) {
            yaml.append("  - name: principal-")
                    .append(i)
                    .append("\n    tenant: tenant-")
                    .append(i % TENANTS)
                    .append("\n    keys: [{access_key: KEY")
                    .append(i)
                    .append(", secret_key: secret-")
                    .append(i)
                    .append("}]\n");
        }
        return yaml.toString();
    }

    private static TestGateway gateway(int principals, String config) {
        TestGateway gateway = TestGateway.over(STORE.endpoint())
                .config(config)
                .principals(principals(principals));
        long startNanos = System.nanoTime();
        gateway.start();
        System.out.println(principals + " principals: started in "
                + (System.nanoTime() - startNanos) / 1_000_000 + " ms");
        return gateway;
    }

    private static TestClient client(TestGateway gateway, int principal) {
        return gateway.client("KEY" + principal, "secret-" + principal);
    }

    private static double sum(List<String> lines, String name) {
        return lines.stream()
                .filter(line -> line.startsWith(name + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
    }

    @Test
    void metricsStayBoundedAndTotalsHold() {
        try (TestGateway gateway = gateway(PRINCIPALS, LIMITED)) {
            int reads = 0;
            for (int tenant = 0; tenant < TENANTS; tenant++) {
                TestClient client = client(gateway, tenant + TENANTS * (tenant % 10));
                for (String bucket : new String[]{"/own-" + tenant, "/second-" + tenant}) {
                    STORE.put(bucket + "/object", RandomBytes.random(tenant, BYTES));
                    for (int i = 0; i < 2; i++) {
                        assertThat(client.get(bucket + "/object").statusCode()).isEqualTo(200);
                        reads++;
                    }
                }
            }
            int all = reads;
            TestGateway.await(
                    () -> sum(gateway.metrics().lines().toList(),
                            "railhead_usage_requests_total") >= all);
            List<String> lines = gateway.metrics()
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .toList();
            System.out.println(lines.size() + " series, of usage "
                    + lines.stream().filter(line -> line.startsWith("railhead_usage_")).count());
            assertThat(lines).hasSizeLessThanOrEqualTo(MOST_SERIES);
            assertThat(sum(lines, "railhead_usage_requests_total")).isEqualTo(reads);
            assertThat(sum(lines, "railhead_usage_hits_total")
                    + sum(lines, "railhead_usage_misses_total")).isEqualTo(reads);
            assertThat(sum(lines, "railhead_usage_bytes_total")).isEqualTo((double) reads * BYTES);
            assertThat(sum(lines, "railhead_usage_store_bytes_total"))
                    .isEqualTo(2.0 * TENANTS * BYTES);
            for (String tenant : List.of("tenant-0", "tenant-1", "tenant-999")) {
                assertThat(lines.stream()
                        .filter(line -> line.startsWith("railhead_usage_bytes_total{tenant=\""
                                + tenant + "\""))
                        .toList()).isNotEmpty();
            }
        }
    }

    /** By turns, over as many connections: one principal without a limit, and all with one. */
    @Test
    @Tag("long")
    void latenciesAreCompared() {
        boolean measures = Boolean.getBoolean("railhead.measure");
        int rounds = measures ? 20 : 1;
        int requests = measures ? 2000 : 50;
        STORE.put("/b/object", RandomBytes.random(1, BYTES));
        try (TestGateway one = gateway(1, RULES);
                TestGateway many = gateway(PRINCIPALS, LIMITED)) {
            List<TestClient> ofOne = clients(one, 1);
            List<TestClient> ofMany = clients(many, PRINCIPALS);
            latencies(ofOne, requests);
            latencies(ofMany, requests);
            List<long[]> before = new ArrayList<>();
            List<long[]> after = new ArrayList<>();
            for (int round = 0; round < rounds; round++) {
                before.add(latencies(ofOne, requests));
                after.add(latencies(ofMany, requests));
            }
            for (double quantile : new double[]{0.5, 0.99}) {
                System.out.println("quantile " + quantile + ", median of " + rounds
                        + " rounds: one principal " + median(before, quantile) + " us, "
                        + PRINCIPALS + " principals " + median(after, quantile) + " us");
            }
        }
    }

    private static long median(List<long[]> rounds, double quantile) {
        long[] values = rounds.stream().mapToLong(round -> at(round, quantile)).sorted().toArray();
        return values[values.length / 2];
    }

    private static long at(long[] sorted, double quantile) {
        return sorted[(int) (quantile * (sorted.length - 1))] / 1000;
    }

    private static List<TestClient> clients(TestGateway gateway, int principals) {
        List<TestClient> clients = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            clients.add(client(gateway, i * (principals / CONNECTIONS)));
        }
        return clients;
    }

    private static long[] latencies(List<TestClient> clients, int requests) {
        long[] nanos = new long[requests];
        for (int i = 0; i < requests; i++) {
            TestClient client = clients.get(i % clients.size());
            long startNanos = System.nanoTime();
            assertThat(client.get("/b/object").statusCode()).isEqualTo(200);
            nanos[i] = System.nanoTime() - startNanos;
        }
        Arrays.sort(nanos);
        return nanos;
    }
}
