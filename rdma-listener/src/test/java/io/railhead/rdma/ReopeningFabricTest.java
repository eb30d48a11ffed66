package io.railhead.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.memory.Slab;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.ClientSessions;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ReopeningFabricTest {
    private static final Duration OFTEN = Duration.ofMillis(1);
    private static final Slab SLAB = new Slab() {
        @Override
        public int id() {
            return 0;
        }

        @Override
        public MemorySegment segment() {
            return MemorySegment.NULL;
        }
    };

    private final List<String> calls = new CopyOnWriteArrayList<>();
    private final AtomicInteger looks = new AtomicInteger();
    private volatile String place = "a";
    private volatile long sessions;
    private volatile boolean usable = true;
    private volatile boolean losesDevice;
    private volatile boolean failsToOpen;
    private volatile boolean failsToRegister;
    private final ReopeningFabric<String> fabric = new ReopeningFabric<>("verbs", this::look,
            Opened::new, OFTEN);

    private String look() {
        looks.incrementAndGet();
        return place;
    }

    private final class Opened implements Fabric {
        private final String where;
        private volatile boolean isClosed;

        Opened(String where) {
            this.where = where;
            if (failsToOpen) {
                failsToOpen = false;
                throw new IllegalStateException("cannot be opened");
            }
            calls.add("open " + where);
        }

        @Override
        public String name() {
            return "verbs";
        }

        @Override
        public Health health() {
            return usable ? Health.USABLE : Health.down("down");
        }

        @Override
        public boolean hasLostDevice() {
            return losesDevice && !isClosed;
        }

        @Override
        public FabricStats stats() {
            return new FabricStats(1, 0, 0, 0, 0, isClosed ? 0 : sessions, 0, Map.of(), Map.of(),
                    Map.of(QueuePairState.KEPT, 1L), Map.of("verbs-poller-a-0", 5L));
        }

        @Override
        public void register(Slab slab) {
            if (failsToRegister) {
                failsToRegister = false;
                throw new IllegalStateException("cannot be pinned");
            }
            calls.add("register " + where);
        }

        @Override
        public Transfer begin(RemoteBuffer buffer) {
            throw new TransferException(TransferException.Reason.UNKNOWN_KEY, "begun in " + where);
        }

        @Override
        public void close() {
            isClosed = true;
            losesDevice = false;
            calls.add("close " + where);
        }
    }

    @AfterEach
    void close() {
        fabric.close();
    }

    private static RemoteBuffer buffer() {
        ClientSession clientSession = Objects
                .requireNonNull(new ClientSessions(Duration.ofSeconds(1), 1, 1)
                        .open("ann", "verbs", _ -> new byte[32]));
        return new RemoteBuffer(clientSession, 0, 1, 1);
    }

    @Test
    void whereItsPlaceChangesItIsOpenedThereWithAllSlabs() {
        fabric.register(SLAB);
        place = "b";
        Awaiting.until("it is reopened", () -> fabric.place().equals("b")
                && fabric.health().usable());

        assertThat(calls).containsExactly("open a", "register a", "close a", "open b",
                "register b");
        assertThatThrownBy(() -> fabric.begin(buffer())).hasMessage("begun in b");
        assertThat(fabric.stats().transfers()).as("of both").isEqualTo(2);
        assertThat(fabric.stats().pollerNanos()).containsEntry("verbs-poller-a-0", 10L);
        assertThat(fabric.stats().queuePairs()).as("kept for good")
                .containsEntry(QueuePairState.KEPT, 2L);
    }

    @Test
    void whileSessionsUseItItStaysUntilItCanNoLongerBeUsed() {
        sessions = 1;
        place = "b";
        int before = looks.get();
        Awaiting.until("it has looked, and done what follows", () -> looks.get() > before + 1);
        assertThat(fabric.place()).isEqualTo("a");

        usable = false;
        Awaiting.until("it is reopened", () -> fabric.place().equals("b"));
    }

    /** Of a fabric without sessions: who uses it cannot be counted so. */
    @Test
    void whatIsStillWhereItWasStaysWhateverElseComes() {
        try (ReopeningFabric<String> still = new ReopeningFabric<>("dc", this::look,
                new ReopeningFabric.Opener<>() {
                    @Override
                    public Fabric open(String where) {
                        return new Opened(where);
                    }

                    @Override
                    public boolean isStillAt(String where) {
                        return where.startsWith("a");
                    }
                }, OFTEN)) {
            place = "a and b";
            Awaiting.until("the other follows", () -> fabric.place().equals("a and b"));
            int before = looks.get();
            Awaiting.until("both have looked", () -> looks.get() > before + 4);
            assertThat(still.place()).isEqualTo("a");
            place = "b";
            Awaiting.until("it is elsewhere", () -> still.place().equals("b"));
        }
    }

    @Test
    void aPlaceWhereMemoryCannotBeRegisteredIsNotUsed() {
        fabric.register(SLAB);
        failsToRegister = true;
        place = "b";
        Awaiting.until("it is opened again", () -> fabric.place().equals("b")
                && fabric.health().usable());
        assertThat(calls).endsWith("close a", "open b", "close b", "open b", "register b");
    }

    @Test
    void whatCannotBeOpenedIsTriedAgain() {
        fabric.register(SLAB);
        failsToOpen = true;
        place = "b";
        Awaiting.until("it is opened again", () -> fabric.place().equals("b")
                && fabric.health().usable());
        assertThat(calls).endsWith("close a", "open b", "register b");
    }

    @Test
    void whatCannotBeOpenedAtFirstSaysWhyAndIsTriedAgain() {
        failsToOpen = true;
        try (ReopeningFabric<String> late = new ReopeningFabric<>("verbs", this::look,
                Opened::new, Duration.ofDays(1))) {
            assertThat(late.health().reason()).isEqualTo("cannot be opened");
        }
        failsToOpen = true;
        try (ReopeningFabric<String> late = new ReopeningFabric<>("verbs", this::look,
                Opened::new, OFTEN)) {
            Awaiting.until("it is opened again", () -> late.health().usable());
        }
    }

    /** Such as no adapter at all. */
    @Test
    void whereThereIsNoneNothingIsTriedUntilThePlaceChanges() {
        AtomicInteger tries = new AtomicInteger();
        try (ReopeningFabric<String> none = new ReopeningFabric<>("verbs", this::look, _ -> {
            tries.incrementAndGet();
            return new UnavailableFabric("verbs", "none");
        }, OFTEN)) {
            int before = looks.get();
            Awaiting.until("it has looked", () -> looks.get() > before + 10);
            assertThat(tries).hasValue(1);
            assertThat(none.health().reason()).isEqualTo("none");
        }
    }

    /** Sessions of other devices end too: all of it is one fabric. */
    @Test
    void whoseDeviceHasGoneIsClosedThoughSessionsUseItAndOpenedWhereItIsBack() {
        fabric.register(SLAB);
        sessions = 1;
        usable = false;
        failsToOpen = true;
        losesDevice = true;
        Awaiting.until("it is opened again", () -> calls.size() == 5);
        assertThat(calls).containsExactly("open a", "register a", "close a", "open a",
                "register a");
        usable = true;
        assertThat(fabric.health()).isEqualTo(Health.USABLE);
    }

    @Test
    void untilItIsOpenedAgainItSaysThatItsDeviceHasGone() {
        try (ReopeningFabric<String> rare = new ReopeningFabric<>("verbs", this::look,
                Opened::new, Duration.ofDays(1))) {
            fabric.close();
            calls.clear();
            usable = false;
            losesDevice = true;
            Awaiting.until("it is closed", () -> calls.contains("close a"));
            assertThat(rare.health()).isEqualTo(Health.down("down"));
            assertThatThrownBy(() -> rare.begin(buffer())).hasMessage("verbs: down");
        }
    }

    @Test
    void afterItsEndNothingIsOpened() throws InterruptedException {
        fabric.close();
        place = "b";
        Thread.sleep(20);
        assertThat(calls).containsExactly("open a", "close a");
    }
}
