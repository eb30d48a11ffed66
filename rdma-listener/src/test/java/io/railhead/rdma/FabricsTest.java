package io.railhead.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.memory.Slab;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.ClientSessions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class FabricsTest {
    private final List<String> calls = new ArrayList<>();

    /** Says what was called; begins nothing. */
    private final class Named implements Fabric {
        private final String name;
        private final Health health;

        Named(String name, Health health) {
            this.name = name;
            this.health = health;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public Health health() {
            return health;
        }

        @Override
        public FabricStats stats() {
            return new FabricStats(1, 2, 3, 4, 5, 6, 7,
                    Map.of(TransferException.Reason.FENCED, 8L), Map.of(),
                    Map.of(QueuePairState.OPEN, 9L), Map.of(name, 10L));
        }

        @Override
        public void register(Slab slab) {
            calls.add("register " + name);
        }

        @Override
        public Transfer begin(RemoteBuffer buffer) {
            throw new TransferException(TransferException.Reason.UNAVAILABLE, "begun by " + name);
        }

        @Override
        public void close() {
            calls.add("close " + name);
            throw new IllegalStateException(name);
        }
    }

    private static RemoteBuffer bufferOf(String fabric) {
        ClientSession clientSession = Objects
                .requireNonNull(new ClientSessions(Duration.ofSeconds(1), 1, 1)
                        .open("ann", fabric, _ -> new byte[32]));
        return new RemoteBuffer(clientSession, 0, 1, 1);
    }

    @Test
    void whatTheyCountIsSummed() {
        FabricStats sum = new Fabrics(
                List.of(new Named("a", Health.USABLE), new Named("b", Health.USABLE))).stats();

        assertThat(sum).isEqualTo(new FabricStats(2, 4, 6, 8, 10, 12, 14,
                Map.of(TransferException.Reason.FENCED, 16L), Map.of(),
                Map.of(QueuePairState.OPEN, 18L), Map.of("a", 10L, "b", 10L)));
    }

    @Test
    void aTransferGoesOverTheFabricThatItsSessionWasOpenedFor() {
        Fabrics fabrics = new Fabrics(
                List.of(new Named("a", Health.USABLE), new Named("b", Health.USABLE)));

        assertThatThrownBy(() -> fabrics.begin(bufferOf("a"))).hasMessageContaining("begun by a");
        assertThatThrownBy(() -> fabrics.begin(bufferOf("b"))).hasMessageContaining("begun by b");
        assertThatThrownBy(() -> fabrics.begin(bufferOf("c")))
                .isInstanceOfSatisfying(TransferException.class, e -> assertThat(e.reason())
                        .isEqualTo(TransferException.Reason.UNAVAILABLE));
    }

    @Test
    void aSessionsHealthIsThatOfItsOwnFabric() {
        Fabrics fabrics = new Fabrics(List.of(new Named("a", Health.USABLE),
                new UnavailableFabric("b", "switched off")));
        assertThat(fabrics.health(bufferOf("a").session())).isEqualTo(Health.USABLE);
        assertThat(fabrics.health(bufferOf("b").session()))
                .isEqualTo(Health.down("switched off"));
        assertThat(fabrics.health(bufferOf("c").session()).usable()).isFalse();
    }

    @Test
    void oneUsableFabricIsEnough() {
        Fabric down = new UnavailableFabric("b", "switched off");
        assertThat(new Fabrics(List.of(new Named("a", Health.USABLE), down)).health().usable())
                .isTrue();
        assertThat(new Fabrics(List.of(new UnavailableFabric("a", "gone"), down)).health())
                .isEqualTo(Health.down("a: gone; b: switched off"));
    }

    @Test
    void allAreClosedInTheReverseOrderWhateverFails() {
        Fabrics fabrics = new Fabrics(
                List.of(new Named("a", Health.USABLE), new Named("b", Health.USABLE)));

        assertThatThrownBy(fabrics::close).hasMessage("b")
                .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
        assertThat(calls).containsExactly("close b", "close a");
    }

    @Test
    void noTwoHaveTheSameName() {
        List<Fabric> twins = List.of(new UnavailableFabric("a", "x"),
                new UnavailableFabric("a", "y"));
        assertThatThrownBy(() -> new Fabrics(twins)).hasMessageContaining("named a");
    }
}
