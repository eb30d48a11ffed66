package io.railhead.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
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

    private static final int RUNS = 300;

    private final HandClock clock = new HandClock();
    private final Sharers sharers = sharers(new ClusterConfig.Address("10.0.0.1", 7801));

    private Sharers sharers(ClusterConfig.@Nullable Address fills) {
        return new Sharers(new ClusterConfig("test", "a",
                new ClusterConfig.Address("10.0.0.1", 7800),
                new ClusterConfig.Discovery.Fixed(List.of()), Duration.ofSeconds(2),
                Map.of("cache.run", "8MiB", "backends.store", "x", "backends.other", "y"), fills),
                clock);
    }

    private static Introduction word(ClusterConfig.@Nullable Address fills,
            @Nullable String endpoint) {
        Map<String, String> said = new HashMap<>();
        if (fills != null) {
            said.put("cluster.fills", fills.toString());
        }
        if (endpoint != null) {
            said.put("cluster.endpoint", endpoint);
        }
        return Introduction.of(new Frame.Introduction(said));
    }

    /** Returns where each run was held before, by its index. */
    private List<String> previous() {
        List<String> found = new ArrayList<>();
        for (int i = 0; i < RUNS; i++) {
            found.add(String.valueOf(sharers.previousOwnerOf("store", "bucket", "key", i)));
        }
        return found;
    }

    private List<String> owned() {
        List<String> found = new ArrayList<>();
        for (int i = 0; i < RUNS; i++) {
            found.add(String.valueOf(sharers.ownerOf("store", "bucket", "key", i)));
        }
        return found;
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
        into.introduced(OF_B, word(B, null), List.of());
        into.introduced(OF_C, word(C, null), List.of());
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
        sharers.introduced(OF_B, word(B, null), List.of("backends.other"));
        assertThat(owners(sharers, "store")).contains(B.toString());
        assertThat(owners(sharers, "other")).containsExactlyInAnyOrder("null", C.toString());
        sharers.introduced(OF_B, word(B, null), List.of("cache.run"));
        assertThat(owners(sharers, "store")).containsExactlyInAnyOrder("null", C.toString());
    }

    @Test
    void whoDoesNotListenOrIsGoneOwnsNothing() {
        all(sharers);
        sharers.introduced(OF_B, word(null, null), List.of());
        sharers.saidFarewell(OF_C);
        assertThat(owners(sharers, "store")).containsExactly("null");
        Member again = new Member("4", "c");
        sharers.membersAre(new Membership("w", List.of(OF_B, again)));
        sharers.introduced(OF_B, word(B, null), List.of());
        sharers.introduced(again, word(C, null), List.of());
        sharers.membersAre(new Membership("x", List.of(again)));
        assertThat(owners(sharers, "store")).containsExactlyInAnyOrder("null", C.toString());
        sharers.introduced(OF_B, word(B, null), List.of());
        assertThat(owners(sharers, "store")).doesNotContain(B.toString());
    }

    @Test
    void clientsAreShownTheOwnersThatServe() {
        all(sharers);
        assertThat(sharers.endpoints()).isEmpty();
        sharers.serveAt("http://a:9000");
        sharers.introduced(OF_B, word(B, "http://b:9000"), List.of());
        sharers.introduced(OF_C, word(C, "http://c:9000"), List.of("backends.other"));
        assertThat(sharers.endpoints()).containsExactly(Map.entry("a", "http://a:9000"),
                Map.entry("b", "http://b:9000"));
        sharers.saidFarewell(OF_B);
        assertThat(sharers.endpoints()).containsOnlyKeys("a");
        Sharers alone = sharers((ClusterConfig.Address) null);
        all(alone);
        alone.serveAt("http://a:9000");
        alone.introduced(OF_B, word(B, "http://b:9000"), List.of());
        assertThat(alone.endpoints()).isEmpty();
    }

    @Test
    void aGatewayWithoutAPortAsksNobody() {
        Sharers alone = sharers((ClusterConfig.Address) null);
        all(alone);
        assertThat(owners(alone, "store")).containsExactly("null");
    }

    /** The members that it finds held everything; those of its own start hold nothing for it. */
    @Test
    void whoJoinsAsksTheOwnersThatItFinds() {
        assertThat(previous()).containsOnly("null");
        sharers.membersAre(new Membership("v", List.of(OF_B, OF_C)));
        assertThat(previous()).as("nobody is introduced").containsOnly("null");
        all(sharers);
        List<String> owned = owned();
        List<String> previous = previous();
        assertThat(previous).doesNotContain("null").contains(B.toString(), C.toString());
        for (int i = 0; i < RUNS; i++) {
            if (!owned.get(i).equals("null")) {
                assertThat(previous.get(i)).as("owned by others, too").isEqualTo(owned.get(i));
            }
        }
        clock.pass(Duration.ofMinutes(11));
        assertThat(previous()).containsOnly("null");
    }

    @Test
    void aNewMembersRunsWereHeldWhereTheyWereOwned() {
        sharers.membersAre(new Membership("v", List.of(OF_B)));
        sharers.introduced(OF_B, word(B, null), List.of());
        clock.pass(Duration.ofMinutes(11));
        List<String> before = owned();
        sharers.membersAre(new Membership("w", List.of(OF_B, OF_C)));
        sharers.introduced(OF_C, word(C, null), List.of());
        assertThat(previous()).isEqualTo(before);
    }

    /** It holds nothing of what its former self held. */
    @Test
    void whoWasRestartedIsNotAskedForWhatItHeldBefore() {
        all(sharers);
        clock.pass(Duration.ofMinutes(11));
        Member again = new Member("4", "c");
        sharers.membersAre(new Membership("w", List.of(OF_B)));
        sharers.membersAre(new Membership("x", List.of(OF_B, again)));
        sharers.introduced(again, word(C, null), List.of());
        assertThat(owned()).contains(C.toString());
        assertThat(previous()).contains(B.toString(), "null").doesNotContain(C.toString());
    }

    @Test
    void whoLeavesOwnsNothingAndIsAskedForWhatItHolds() {
        all(sharers);
        clock.pass(Duration.ofMinutes(11));
        List<String> before = owned();
        sharers.introduced(OF_C, new Introduction(null, C, "http://c:9000", true, Map.of()),
                List.of());
        assertThat(owned()).contains(B.toString(), "null").doesNotContain(C.toString());
        assertThat(previous()).isEqualTo(before);
        assertThat(sharers.isThere(C)).isTrue();
        sharers.serveAt("http://a:9000");
        assertThat(sharers.endpoints()).containsOnlyKeys("a");
        sharers.introduced(OF_C, word(C, null), List.of());
        assertThat(owned()).as("an introduction that was late").doesNotContain(C.toString());
        sharers.saidFarewell(OF_C);
        assertThat(previous()).doesNotContain(C.toString());
    }

    @Test
    void aGatewayThatLeavesOwnsNothingItself() {
        all(sharers);
        sharers.serveAt("http://a:9000");
        sharers.leave();
        assertThat(owned()).contains(B.toString(), C.toString()).doesNotContain("null");
        assertThat(sharers.endpoints()).isEmpty();
        sharers.membersAre(new Membership("w", List.of()));
        assertThat(owned()).containsOnly("null");
    }

    @Test
    void whoDiffersNowIsNotAskedForWhatItOwned() {
        all(sharers);
        sharers.introduced(OF_B, word(B, null), List.of("cache.run"));
        assertThat(previous()).containsOnly(C.toString());
    }

    @Test
    void fewViewsAreRemembered() {
        EndedViews views = EndedViews.NONE;
        for (int i = 0; i < 10 * EndedViews.MOST; i++) {
            views = views.and(Set.of(OF_B), "a", clock.getAsLong());
        }
        assertThat(views.newestFirst()).hasSize(EndedViews.MOST);
        clock.pass(EndedViews.KEPT.plusSeconds(1));
        assertThat(views.and(Set.of(), "a", clock.getAsLong()).newestFirst()).hasSize(1);
    }

    @Test
    void anIntroductionArrivesAsItWas() {
        Introduction said = new Introduction("10.0.0.2:7800", B, "http://b:9000", true,
                Map.of("cache.run", "8MiB"));
        assertThat(Introduction.of((Frame.Introduction) said.frame())).isEqualTo(said);
        Introduction least = word(null, null);
        assertThat(Introduction.of((Frame.Introduction) least.frame())).isEqualTo(least);
    }
}
