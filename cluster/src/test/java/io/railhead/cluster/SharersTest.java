package io.railhead.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Only members that agree, and that listen for fills, own anything. */
class SharersTest {
    private static final ClusterConfig.Address B = new ClusterConfig.Address("10.0.0.2", 7801);
    private static final ClusterConfig.Address C = new ClusterConfig.Address("10.0.0.3", 7801);
    private static final Member OF_B = new Member("2", "b");
    private static final Member OF_C = new Member("3", "c");

    private final Sharers sharers = sharers(new ClusterConfig.Address("10.0.0.1", 7801));

    private static Sharers sharers(ClusterConfig.@Nullable Address fills) {
        return new Sharers(new ClusterConfig("test", "a",
                new ClusterConfig.Address("10.0.0.1", 7800),
                new ClusterConfig.Discovery.Fixed(List.of()), Duration.ofSeconds(2),
                Map.of("cache.run", "8MiB", "backends.store", "x", "backends.other", "y"), fills));
    }

    private static Set<String> owners(Sharers sharers, String backend) {
        Set<String> owners = new HashSet<>();
        for (int i = 0; i < 300; i++) {
            owners.add(String.valueOf(sharers.ownerOf(backend, "bucket", "key", i)));
        }
        return owners;
    }

    private void all(Sharers into) {
        into.membersAre(new Membership("v", List.of(OF_B, OF_C)));
        into.introduced(OF_B, B, null, List.of());
        into.introduced(OF_C, C, null, List.of());
    }

    @Test
    void membersThatListenShareAllBackends() {
        assertThat(owners(sharers, "store")).containsExactly("null");
        all(sharers);
        assertThat(owners(sharers, "store")).containsExactlyInAnyOrder("null", B.toString(),
                C.toString());
        assertThat(sharers.fillsOf(OF_B)).isEqualTo(B);
        assertThat(owners(sharers, "unknown")).containsExactly("null");
    }

    @Test
    void whoDiffersOwnsNothingOfWhatItDiffersIn() {
        all(sharers);
        sharers.introduced(OF_B, B, null, List.of("backends.other"));
        assertThat(owners(sharers, "store")).contains(B.toString());
        assertThat(owners(sharers, "other")).containsExactlyInAnyOrder("null", C.toString());
        sharers.introduced(OF_B, B, null, List.of("cache.run"));
        assertThat(owners(sharers, "store")).containsExactlyInAnyOrder("null", C.toString());
    }

    @Test
    void whoDoesNotListenOrIsGoneOwnsNothing() {
        all(sharers);
        sharers.introduced(OF_B, null, null, List.of());
        sharers.saidFarewell(OF_C);
        assertThat(owners(sharers, "store")).containsExactly("null");
        all(sharers);
        sharers.membersAre(new Membership("w", List.of(OF_C)));
        assertThat(owners(sharers, "store")).containsExactlyInAnyOrder("null", C.toString());
        sharers.introduced(OF_B, B, null, List.of());
        assertThat(owners(sharers, "store")).doesNotContain(B.toString());
    }

    @Test
    void clientsAreShownTheOwnersThatServe() {
        all(sharers);
        assertThat(sharers.endpoints()).isEmpty();
        sharers.serveAt("http://a:9000");
        sharers.introduced(OF_B, B, "http://b:9000", List.of());
        sharers.introduced(OF_C, C, "http://c:9000", List.of("backends.other"));
        assertThat(sharers.endpoints()).containsExactly(Map.entry("a", "http://a:9000"),
                Map.entry("b", "http://b:9000"));
        sharers.saidFarewell(OF_B);
        assertThat(sharers.endpoints()).containsOnlyKeys("a");
        Sharers alone = sharers((ClusterConfig.Address) null);
        all(alone);
        alone.serveAt("http://a:9000");
        alone.introduced(OF_B, B, "http://b:9000", List.of());
        assertThat(alone.endpoints()).isEmpty();
    }

    @Test
    void aGatewayWithoutAPortAsksNobody() {
        Sharers alone = sharers((ClusterConfig.Address) null);
        all(alone);
        assertThat(owners(alone, "store")).containsExactly("null");
    }
}
