package io.railhead.rdma;

import static io.railhead.rdma.Awaiting.failure;
import static io.railhead.rdma.Awaiting.result;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.railhead.cache.memory.PageSlice;
import io.railhead.rdma.TransferException.Reason;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What every fabric does, whatever moves the bytes and whoever knows what peers registered. After
 * each test no page is leased and no peer memory is held.
 *
 * <p>One long class on purpose: a new fabric extends it and has the whole contract.
 */
@Timeout(120)
public abstract class FabricContract {
    protected static final byte UNTOUCHED = 0x5a;
    private static final int GUARD = 100;
    protected static final String ANN = "ann";

    private FabricRig rig;
    private TestPages pages;

    protected abstract FabricRig start() throws IOException;

    protected TestPages openPages(Fabric fabric) {
        return new TestPages(fabric);
    }

    protected final FabricRig rig() {
        return rig;
    }

    protected final TestPages pages() {
        return pages;
    }

    @BeforeEach
    final void startFabric() throws IOException {
        rig = start();
        pages = openPages(rig.fabric());
    }

    @AfterEach
    final void nothingIsLeftBehind() {
        rig.close();
        assertThat(pages.leases()).as("leases").isZero();
        assertThat(rig.stats().registeredBytes()).as("registered bytes").isZero();
        assertThat(rig.stats().sessions()).as("sessions").isZero();
        assertThat(rig.stats().queuePairs().values()).as("queue pairs")
                .allMatch(pairs -> pairs == 0);
        assertThat(rig.sessions().open()).as("open sessions").isZero();
        pages.close();
    }

    @Test
    void aRunningFabricIsUsable() {
        assertThat(rig.fabric().health()).isEqualTo(Health.USABLE);
        assertThat(rig.fabric().name()).isNotBlank();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 4096, 65535, 65536, 65537, 1 << 20})
    void aWriteLandsExactlyAndNeighboursAreUntouched(int length) throws IOException {
        TestBuffer buffer = untouched(rig.connect(ANN), length + 2 * GUARD);
        byte[] bytes = random(1, length);
        int number = sessionOf(buffer);
        result(transfer(buffer, number, GUARD, length).write(pages.of(bytes), 0));
        assertThat(bytes(buffer, GUARD, length)).isEqualTo(bytes);
        assertThat(bytes(buffer, 0, GUARD)).containsOnly(UNTOUCHED);
        assertThat(bytes(buffer, GUARD + length, GUARD)).containsOnly(UNTOUCHED);
        assertThat(rig.stats().bytesWritten()).isEqualTo(length);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 4096, 65535, 65536, 65537, 1 << 20})
    void aReadLandsExactlyAndComesBackWithItsLease(int length) throws IOException {
        TestBuffer buffer = untouched(rig.connect(ANN), length + 2 * GUARD);
        byte[] bytes = random(2, length);
        MemorySegment.copy(bytes, 0, buffer.memory(), JAVA_BYTE, GUARD, length);
        Transfer transfer = transfer(buffer, sessionOf(buffer), GUARD, length);
        try (PageSlice slice = result(transfer.read(pages.slice(0, length), 0))) {
            assertThat(TestPages.bytes(slice)).isEqualTo(bytes);
            assertThat(pages.leases()).isEqualTo(1);
        }
        assertThat(rig.stats().bytesRead()).isEqualTo(length);
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 65535", "65535, 2", "65530, 200000", "131071, 131073", "1000, 900000"})
    void aSliceFromTheMiddleOfAPageMovesBothWays(int offset, int length) throws IOException {
        TestBuffer buffer = untouched(rig.connect(ANN), length);
        int number = sessionOf(buffer);
        byte[] bytes = random(3, length);
        PageSlice out = pages.slice(offset, length);
        TestPages.fill(out, bytes);
        result(transfer(buffer, number, 0, length).write(out, 0));
        try (PageSlice back = result(
                transfer(buffer, number, 0, length).read(pages.slice(offset, length), 0))) {
            assertThat(TestPages.bytes(back)).isEqualTo(bytes);
        }
    }

    @Test
    void manySlicesOfOneTransferEachLandAtTheirOffset() throws IOException {
        int slice = 300_001;
        int slices = 40;
        byte[] bytes = random(4, slice * slices);
        TestBuffer buffer = untouched(rig.connect(ANN), bytes.length);
        Transfer transfer = transfer(buffer, sessionOf(buffer), 0, bytes.length);
        List<CompletionStage<Void>> writes = new ArrayList<>();
        for (int i = slices - 1; i >= 0; i--) {
            byte[] part = Arrays.copyOfRange(bytes, i * slice, (i + 1) * slice);
            writes.add(transfer.write(pages.of(part), (long) i * slice));
        }
        writes.forEach(Awaiting::result);
        assertThat(bytes(buffer, 0, bytes.length)).isEqualTo(bytes);
        assertThat(pages.leases()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"-1, 10", "91, 10", "100, 1", "9223372036854775807, 10",
            "-9223372036854775808, 10", "0, 101"})
    void nothingMovesOutsideTheWindowEvenInsideTheBuffer(long offset, int length)
            throws IOException {
        TestBuffer buffer = untouched(rig.connect(ANN), 1000);
        Transfer transfer = transfer(buffer, sessionOf(buffer), 500, 100);
        assertThat(failure(transfer.write(pages.of(random(5, length)), offset)))
                .isEqualTo(Reason.OUT_OF_BOUNDS);
        assertThat(failure(transfer.read(pages.slice(0, length), offset)))
                .isEqualTo(Reason.OUT_OF_BOUNDS);
        assertThat(bytes(buffer, 0, 1000)).containsOnly(UNTOUCHED);
        assertThat(pages.leases()).isZero();
    }

    @Test
    void aFencedTransferMovesNothingMore() throws IOException {
        TestBuffer buffer = untouched(rig.connect(ANN), 1000);
        Transfer transfer = transfer(buffer, sessionOf(buffer), 0, 1000);
        result(transfer.fence());
        result(transfer.fence());
        assertThat(failure(transfer.write(pages.of(random(6, 1000)), 0)))
                .isEqualTo(Reason.FENCED);
        assertThat(failure(transfer.read(pages.slice(0, 1000), 0))).isEqualTo(Reason.FENCED);
        assertThat(bytes(buffer, 0, 1000)).containsOnly(UNTOUCHED);
        assertThat(rig.stats().refused(Reason.FENCED)).isEqualTo(2);
    }

    @Test
    void aFailureIsHeardAsItIsNotWrapped() throws IOException {
        TestBuffer buffer = untouched(rig.connect(ANN), 4 << 20);
        Transfer transfer = transfer(buffer, sessionOf(buffer), 0, 4 << 20);
        result(transfer.fence());
        List<Throwable> heard = Collections.synchronizedList(new ArrayList<>());
        var _ = transfer.write(pages.of(random(6, 1000)), 0)
                .whenComplete((_, failure) -> heard.add(failure));
        var _ = transfer.read(pages.slice(0, 1 << 20), 0)
                .whenComplete((_, failure) -> heard.add(failure));
        Awaiting.until("both are heard", () -> heard.size() == 2);
        assertThat(heard).hasOnlyElementsOfType(TransferException.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4})
    void afterAFenceInFlightTheBufferStaysAsItIs(int written) throws IOException {
        int slices = 64;
        TestBuffer buffer = untouched(rig.connect(ANN), slices << 20);
        Transfer transfer = transfer(buffer, sessionOf(buffer), 0, slices << 20);
        List<CompletionStage<Void>> writes = startWrites(transfer, slices);
        writes.subList(0, written).forEach(Awaiting::result);
        result(transfer.fence());
        assertThat(writes).allMatch(write -> write.toCompletableFuture().isDone());
        assertThat(pages.leases()).isZero();
        byte[] atFence = bytes(buffer, 0, slices << 20);
        anotherTransferRunsToItsEnd();
        assertThat(Arrays.equals(bytes(buffer, 0, slices << 20), atFence)).isTrue();
        for (CompletionStage<Void> write : writes) {
            assertThat(failure(write)).isIn(null, Reason.FENCED);
        }
    }

    @Test
    void aPeersDeathEndsItsLeases() throws IOException {
        TestPeer peer = rig.connect(ANN);
        TestBuffer buffer = untouched(peer, 64 << 20);
        Transfer transfer = transfer(buffer, peer.sessionNumber(), 0, 64 << 20);
        List<CompletionStage<Void>> writes = startWrites(transfer, 64);
        peer.die();
        for (CompletionStage<Void> write : writes) {
            assertThat(failure(write)).isIn(null, Reason.PEER_GONE);
        }
        Awaiting.until("leases end", () -> pages.leases() == 0);
        Awaiting.until("memory is let go", () -> rig.stats().registeredBytes() == 0);
        assertThat(failure(transfer.write(pages.of(random(8, 10)), 0)))
                .isEqualTo(Reason.PEER_GONE);
    }

    @Test
    void closingTheFabricEndsTransfersInFlight() throws IOException {
        TestPeer peer = rig.connect(ANN);
        TestBuffer buffer = untouched(peer, 64 << 20);
        RemoteBuffer window = rig.resolve(ANN, peer.sessionNumber(), buffer.address(),
                64 << 20, buffer.key());
        List<CompletionStage<Void>> writes = startWrites(rig.fabric().begin(window), 64);
        rig.fabric().close();
        assertThat(pages.leases()).isZero();
        assertThat(writes).allMatch(write -> write.toCompletableFuture().isDone());
        for (CompletionStage<Void> write : writes) {
            assertThat(failure(write)).isIn(null, Reason.UNAVAILABLE, Reason.PEER_GONE);
        }
        assertThat(rig.fabric().health().usable()).isFalse();
        assertThat(refusal(window)).isEqualTo(Reason.UNAVAILABLE);
        rig.fabric().close();
    }

    @Test
    @Timeout(600)
    void aThousandSessionsLeaveNothingBehind() throws IOException {
        cycle(20);
        long before = OpenDescriptors.count();
        cycle(1000);
        assertThat(rig.stats().registeredBytes()).isZero();
        assertThat(rig.sessions().open()).isZero();
        Awaiting.until("descriptors are closed", () -> OpenDescriptors.count() <= before);
    }

    private void cycle(int times) throws IOException {
        byte[] bytes = random(9, 4096);
        for (int i = 0; i < times; i++) {
            try (TestPeer peer = rig.connect(ANN)) {
                TestBuffer buffer = peer.register(bytes.length);
                result(transfer(buffer, peer.sessionNumber(), 0, bytes.length)
                        .write(pages.of(bytes), 0));
                assertThat(bytes(buffer, 0, bytes.length)).isEqualTo(bytes);
            }
            pages.recycle();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void manyPeersAtOnceEachGetTheirOwnBytes(long seed) throws Exception {
        int peers = 8;
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < peers; i++) {
            TestPeer peer = rig.connect("tenant" + i % 3);
            TestBuffer buffer = untouched(peer, 4 << 20);
            long own = seed * 1000 + i;
            String principal = "tenant" + i % 3;
            tasks.add(() -> {
                writesAndReadsBack(principal, peer, buffer, new Random(own));
                return null;
            });
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(peers)) {
            for (Future<Void> done : threads.invokeAll(tasks)) {
                done.get();
            }
        }
    }

    private void writesAndReadsBack(String principal, TestPeer peer, TestBuffer buffer,
            Random random) {
        for (int round = 0; round < 12; round++) {
            int length = 1 + random.nextInt(1 << 20);
            int offset = random.nextInt((4 << 20) - length);
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            Transfer transfer = rig.fabric()
                    .begin(rig.resolve(principal,
                            peer.sessionNumber(), buffer.address() + offset, length,
                            buffer.key()));
            result(transfer.write(pages.of(bytes), 0));
            assertThat(Arrays.equals(bytes(buffer, offset, length), bytes)).isTrue();
            try (PageSlice back = result(transfer.read(pages.slice(0, length), 0))) {
                assertThat(Arrays.equals(TestPages.bytes(back), bytes)).isTrue();
            }
        }
    }

    /** One slice of 1 MiB for each MiB of the window; the pages' content does not matter. */
    protected final List<CompletionStage<Void>> startWrites(Transfer transfer, int slices) {
        List<CompletionStage<Void>> writes = new ArrayList<>();
        for (int i = 0; i < slices; i++) {
            PageSlice slice = pages.slice(0, 1 << 20);
            slice.segments().forEach(segment -> segment.fill((byte) 1));
            writes.add(transfer.write(slice, (long) i << 20));
        }
        return writes;
    }

    /** Whatever was queued before has had its turn when this returns. */
    protected final void anotherTransferRunsToItsEnd() throws IOException {
        TestPeer peer = rig.connect("carl");
        TestBuffer buffer = peer.register(8 << 20);
        startWrites(rig.fabric()
                .begin(rig.resolve("carl", peer.sessionNumber(),
                        buffer.address(), 8 << 20, buffer.key())),
                8).forEach(Awaiting::result);
    }

    private final List<TestPeer> registrants = new ArrayList<>();
    private final List<TestBuffer> registered = new ArrayList<>();

    protected final TestBuffer untouched(TestPeer peer, long bytes) throws IOException {
        TestBuffer buffer = peer.register(bytes);
        buffer.memory().fill(UNTOUCHED);
        registrants.add(peer);
        registered.add(buffer);
        return buffer;
    }

    protected final int sessionOf(TestBuffer buffer) {
        return registrants.get(registered.indexOf(buffer)).sessionNumber();
    }

    protected final Transfer transfer(TestBuffer buffer, int session, long offset, long length) {
        return rig.fabric()
                .begin(rig.resolve(ANN, session, buffer.address() + offset,
                        length, buffer.key()));
    }

    protected final Reason refusal(RemoteBuffer buffer) {
        return catchThrowableOfType(TransferException.class, () -> rig.fabric().begin(buffer))
                .reason();
    }

    protected static byte[] bytes(TestBuffer buffer, long from, int length) {
        return buffer.memory().asSlice(from, length).toArray(JAVA_BYTE);
    }

    protected static byte[] random(long seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }
}
