package io.railhead.gateway.accounting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.railhead.gateway.config.Prices;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UsageTableTest {
    private final UsageTable table = new UsageTable();

    private Map<String, Long> bytes() {
        Map<String, Long> bytes = new HashMap<>();
        table.rows()
                .forEach(row -> bytes.put(row.tenant() + "/" + row.bucket(),
                        row.counts().servedBytes()));
        return bytes;
    }

    @Test
    void eachTenantHasARowForEachBucket() {
        table.read("a", "x", true, 1);
        table.read("a", "y", false, 2);
        table.read("b", "x", true, 4);
        table.read("", "x", true, 8);
        assertThat(bytes()).containsOnly(Map.entry("a/x", 1L), Map.entry("a/y", 2L),
                Map.entry("b/x", 4L), Map.entry("__anonymous__/x", 8L));
        assertThat(table.rows().getFirst().tenant()).isEqualTo("__anonymous__");
    }

    @Test
    void furtherBucketsOfATenantAreFoldedIntoItsOwnRow() {
        table.limit(60);
        for (int i = 0; i < 10; i++) {
            table.served("a", "bucket" + i, 1);
        }
        table.served("b", "x", 1);
        assertThat(bytes()).hasSize(5).containsEntry("a/__other__", 7L).containsEntry("b/x", 1L);
    }

    @Test
    void furtherTenantsAreFoldedTogether() {
        table.limit(10);
        for (int i = 0; i < 100; i++) {
            table.served("t" + i, "x", 1);
        }
        assertThat(bytes()).containsEntry("__other__/__other__", 100L - bytes().size() + 1);
        assertThat(table.rows().getLast().tenant()).isEqualTo("__other__");
    }

    @Test
    void aBucketOfAnyNameIsCounted() {
        table.served("a", "__other__", 1);
        table.served("__other__", "x", 2);
        table.served("a", null, 4);
        assertThat(bytes()).containsOnly(Map.entry("a/__other__", 5L),
                Map.entry("__other__/__other__", 2L));
    }

    @Test
    void moneyIsWhatTheStoreWouldHaveCostLessWhatItCost() {
        Prices prices = new Prices("USD", 0.4, 5, 90);
        UsageCounts counts = new UsageCounts(3000, 1000, 0, 2000, 1000, 3L << 30, 1000, 1000,
                1L << 30);
        assertThat(counts.storeCost(prices)).isEqualTo(0.4 + 5 + 90, within(1e-9));
        assertThat(counts.saved(prices)).isEqualTo(0.8 + 180, within(1e-9));
        assertThat(counts.avoidedRequests()).isEqualTo(2000);
        assertThat(counts.avoidedBytes()).isEqualTo(2L << 30);
    }

    /** Against plain sums, with more tenants and buckets than there are rows. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void foldingConservesTotals(long seed) {
        Random random = new Random(seed);
        int rows = 10 + random.nextInt(60);
        table.limit(rows);
        UsageCounts expected = UsageCounts.NONE;
        Map<String, Long> tenants = new HashMap<>();
        for (int step = 0; step < 20_000; step++) {
            String tenant = "t" + skewed(random, 40);
            String bucket = "b" + skewed(random, 40);
            long bytes = random.nextInt(1000);
            expected = expected.plus(count(random.nextInt(5), tenant, bucket, bytes, tenants));
        }
        UsageCounts found = UsageCounts.NONE;
        for (UsageTable.Row row : table.rows()) {
            found = found.plus(row.counts());
            if (!row.tenant().equals(UsageTable.OTHER)) {
                tenants.merge(row.tenant(), -row.counts().servedBytes(), Long::sum);
            }
        }
        assertThat(found).as("seed %d", seed).isEqualTo(expected);
        assertThat(table.rows()).as("seed %d", seed).hasSizeLessThanOrEqualTo(rows);
        long folded = table.rows().getLast().tenant().equals(UsageTable.OTHER)
                ? table.rows().getLast().counts().servedBytes()
                : 0;
        assertThat(tenants.values().stream().mapToLong(Long::longValue).sum())
                .as("seed %d: bytes of folded tenants", seed)
                .isEqualTo(folded);
        assertThat(tenants.values()).as("seed %d", seed).allMatch(left -> left >= 0);
    }

    private static int skewed(Random random, int most) {
        return random.nextInt(1 + random.nextInt(most));
    }

    private UsageCounts count(int what, String tenant, String bucket, long bytes,
            Map<String, Long> tenants) {
        if (what <= 1) {
            tenants.merge(tenant, bytes, Long::sum);
        }
        return switch (what) {
            case 0 -> {
                table.of(tenant, bucket).hit(bytes, 7);
                yield new UsageCounts(1, 0, 7, 1, 0, bytes, 0, 0, 0);
            }
            case 1 -> {
                table.read(tenant, bucket, false, bytes);
                yield new UsageCounts(0, 0, 0, 0, 1, bytes, 0, 0, 0);
            }
            case 2 -> {
                table.ended(tenant, bucket, Kind.WRITE, 3);
                yield new UsageCounts(0, 1, 3, 0, 0, 0, 0, 0, 0);
            }
            case 3 -> {
                table.of(tenant, bucket).asked(Kind.READ);
                table.of(tenant, bucket).received(bytes);
                yield new UsageCounts(0, 0, 0, 0, 0, 0, 1, 0, bytes);
            }
            default -> {
                table.ended(tenant, bucket, Kind.FREE, 3);
                yield UsageCounts.NONE;
            }
        };
    }

    @Test
    void threadsThatMeetNewNamesTogetherLoseNothing() throws Exception {
        table.limit(50);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int seed = i;
            threads.add(Thread.ofPlatform().start(() -> {
                Random random = new Random(seed);
                for (int step = 0; step < 50_000; step++) {
                    table.served("t" + random.nextInt(30), "b" + random.nextInt(30), 1);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(table.rows().stream().mapToLong(row -> row.counts().servedBytes()).sum())
                .isEqualTo(200_000);
        assertThat(table.rows()).hasSizeLessThanOrEqualTo(50);
    }
}
