package io.railhead.rdma.verbs;

import static io.railhead.rdma.Awaiting.result;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.client.verbs.VerbsClient;
import io.railhead.client.verbs.VerbsClientConfig;
import io.railhead.os.devices.Gid;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.devices.RdmaDevices;
import io.railhead.os.verbs.RequiresVerbs;
import io.railhead.os.verbs.VerbsProvider;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.ReopeningFabric;
import io.railhead.rdma.TestPages;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.UnavailableFabric;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.ClientSessions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Devices that are removed under a fabric and come back. The kernel's removal waits for whoever
 * holds a device: it ends only if everything is let go.
 */
@RequiresVerbs
@Timeout(600)
final class DeviceRemovalTest {
    private static final int LENGTH = 3 << 20;
    private static final int LET_GO_SECONDS = 120;

    private final ClientSessions clientSessions = VerbsRig.freshSessions();
    private final Arena arena = Arena.ofShared();
    private final List<String> devices = words("RAILHEAD_RIG_DEVICES", "rxe0 rxe1");
    private final List<String> links = words("RAILHEAD_RIG_LINKS", "v0 v1");
    private ReopeningFabric<Boolean> fabric;
    private volatile @Nullable VerbsFabric opened;
    private TestPages pages;

    private static List<String> words(String variable, String otherwise) {
        return List.of(requireNonNullElse(System.getenv(variable), otherwise).split(" "));
    }

    @BeforeEach
    void start() {
        fabric = new ReopeningFabric<>(VerbsFabric.NAME, DeviceRemovalTest::isThere, this::open,
                Duration.ofSeconds(1));
        pages = new TestPages(fabric);
    }

    @AfterEach
    void stop() throws Exception {
        fabric.close();
        pages.close();
        arena.close();
        for (int i = 0; i < devices.size(); i++) {
            if (!names().contains(devices.get(i))) {
                add(i);
            }
        }
    }

    private static boolean isThere() {
        VerbsProvider.releaseRemoved();
        return RdmaDevices.read()
                .stream()
                .flatMap(device -> device.ports().stream())
                .flatMap(port -> port.gids().stream())
                .map(Gid::address)
                .anyMatch(VerbsRig.GATEWAY::equals);
    }

    private Fabric open(boolean isThere) throws IOException {
        if (!isThere) {
            return new UnavailableFabric(VerbsFabric.NAME, "no adapter");
        }
        VerbsFabric fresh = new VerbsFabric(VerbsRig.config(), clientSessions, RequestHandler.NONE);
        opened = fresh;
        return fresh;
    }

    private static List<String> names() {
        return RdmaDevices.read().stream().map(RdmaDevice::name).toList();
    }

    private static Process rdma(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("rdma", "link"));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).inheritIO().start();
    }

    private void add(int number) throws Exception {
        assertEnds(rdma("add", devices.get(number), "type", "rxe", "netdev", links.get(number)));
    }

    private static void assertEnds(Process command) throws InterruptedException {
        try {
            assertThat(command.waitFor(LET_GO_SECONDS, TimeUnit.SECONDS))
                    .as("it ends: nobody holds the device")
                    .isTrue();
            assertThat(command.exitValue()).isZero();
        } finally {
            command.destroyForcibly();
        }
    }

    private VerbsClient peer(ClientSession clientSession) throws IOException {
        VerbsClientConfig config = VerbsClientConfig
                .of(VerbsRig.config().peers().maxRequests(), VerbsRig.PATIENCE)
                .from(VerbsRig.PEER);
        return VerbsClient.connect(config, requireNonNull(opened).addresses().getFirst(),
                clientSession.id(), VerbsRig.KEY);
    }

    private ClientSession session() {
        return requireNonNull(
                clientSessions.open("ann", VerbsFabric.NAME, _ -> VerbsRig.KEY.clone()));
    }

    private Transfer transfer(VerbsClient peer, MemorySegment memory) throws IOException {
        return fabric.begin(clientSessions.resolve("ann", peer.sessionNumber(), memory.address(),
                memory.byteSize(), peer.register(memory)));
    }

    private void bytesAreDelivered(int seed) throws IOException {
        try (VerbsClient peer = peer(session())) {
            MemorySegment memory = arena.allocate(4096, 4096);
            byte[] bytes = new byte[4096];
            new Random(seed).nextBytes(bytes);
            result(transfer(peer, memory).write(pages.of(bytes), 0));
            assertThat(memory.toArray(JAVA_BYTE)).isEqualTo(bytes);
        }
    }

    private void awaitUsable() {
        Awaiting.until("it is usable", () -> fabric.health().usable());
    }

    @Test
    void aDeviceThatIsRemovedIsLetGoAndUsedAgainOnceItIsBack() throws Exception {
        VerbsClient peer = peer(session());
        MemorySegment memory = arena.allocate(LENGTH, 4096);
        Transfer transfer = transfer(peer, memory);
        List<CompletionStage<Void>> writes = VerbsFaultsTest.writeAll(pages, transfer, LENGTH);
        Process removal = rdma("delete", devices.getFirst());
        Awaiting.until("it is unusable", () -> !fabric.health().usable());
        assertThat(fabric.health().reason()).contains(devices.getFirst());
        assertEnds(removal);

        for (CompletionStage<Void> write : writes) {
            assertThat(Awaiting.failure(write)).isIn(null, Reason.UNAVAILABLE,
                    Reason.PEER_GONE);
        }
        assertThat(pages.leases()).isZero();
        assertThat(clientSessions.open()).isZero();
        assertThat(fabric.stats().sessions()).isZero();
        assertThat(fabric.stats().queuePairs().values()).containsOnly(0L);
        peer.drop();
        peer.close();

        add(0);
        awaitUsable();
        bytesAreDelivered(2);
    }

    /** librdmacm looks at no device where there is none left. */
    @Test
    void theLastDeviceOfTheMachineIsLetGoToo() throws Exception {
        bytesAreDelivered(3);
        for (int i = devices.size() - 1; i >= 0; i--) {
            assertEnds(rdma("delete", devices.get(i)));
        }
        Awaiting.until("it is unusable", () -> !fabric.health().usable());
        assertThat(names()).isEmpty();
        add(0);
        add(1);
        awaitUsable();
        bytesAreDelivered(4);
    }
}
