package io.railhead.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** Real members on addresses of this host that no other test of this process has. */
class JGroupsLinkTest {
    private static final int PORT = 7800;
    private static final String NETWORK = "127." + (1 + ProcessHandle.current().pid() / 250 % 250)
            + "." + (1 + ProcessHandle.current().pid() % 250) + ".";
    private static final List<ClusterConfig.Address> ALL = List.of(
            new ClusterConfig.Address(NETWORK + 101, PORT),
            new ClusterConfig.Address(NETWORK + 102, PORT));

    private static ClusterConfig config(int index) {
        return new ClusterConfig("test", "m" + index, ALL.get(index),
                new ClusterConfig.Discovery.Fixed(ALL), Duration.ofSeconds(2), Map.of());
    }

    /** The views and frames that a link has told. */
    private static final class Ears implements Link.Ear {
        private final List<Membership> views = new CopyOnWriteArrayList<>();
        private final List<String> frames = new CopyOnWriteArrayList<>();

        @Override
        public void membersAre(Membership membership) {
            views.add(membership);
        }

        @Override
        public void heard(Member from, byte[] frame) {
            frames.add(from.name() + " " + new String(frame));
        }

        List<String> others() {
            return views.isEmpty()
                    ? List.of()
                    : views.getLast().others().stream().map(Member::name).toList();
        }
    }

    private static void await(BooleanSupplier condition) {
        Instant deadline = Instant.now().plus(Duration.ofSeconds(60));
        while (!condition.getAsBoolean()) {
            assertThat(Instant.now()).as("deadline").isBefore(deadline);
            Thread.onSpinWait();
        }
    }

    @Test
    void membersFindEachOtherHearCastsInOrderAndSeeWhoLeaves() {
        Ears first = new Ears();
        Ears second = new Ears();
        try (JGroupsLink one = new JGroupsLink(config(0), null);
                JGroupsLink other = new JGroupsLink(config(1), null)) {
            one.open(first);
            assertThat(first.others()).isEmpty();
            other.open(second);
            await(() -> first.others().equals(List.of("m1"))
                    && second.others().equals(List.of("m0")));
            assertThat(first.views.getLast().id()).isEqualTo(second.views.getLast().id());
            for (int i = 0; i < 100; i++) {
                one.cast(("cast " + i).getBytes());
            }
            other.send(second.views.getLast().others().getFirst(), "sent".getBytes());
            await(() -> second.frames.size() == 100 && first.frames.size() == 1);
            assertThat(first.frames).containsExactly("m1 sent");
            for (int i = 0; i < 100; i++) {
                assertThat(second.frames.get(i)).isEqualTo("m0 cast " + i);
            }
            leave(other);
            await(() -> first.others().isEmpty());
        }
    }

    /** Closes it before its time; the end of the test closes it again, without effect. */
    private static void leave(JGroupsLink link) {
        link.close();
    }

    @Test
    void aPortInUseIsRefusedInOneLine() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName(NETWORK + 103));
                JGroupsLink link = new JGroupsLink(new ClusterConfig("test", "m",
                        new ClusterConfig.Address(NETWORK + 103, taken.getLocalPort()),
                        new ClusterConfig.Discovery.Fixed(List.of()), Duration.ofSeconds(2),
                        Map.of()), null)) {
            assertThatThrownBy(() -> link.open(new Ears()))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("cluster.listen: cannot listen on " + NETWORK + "103:")
                    .hasMessageNotContaining("\n");
        }
    }
}
