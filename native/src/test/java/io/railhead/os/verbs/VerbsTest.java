package io.railhead.os.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvSendWR;
import com.sun.management.ThreadMXBean;
import io.railhead.os.EventDescriptor;
import io.railhead.os.PollSet;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

@RequiresVerbs
final class VerbsTest {
    private static final int LOCAL = IbvMr.IBV_ACCESS_LOCAL_WRITE;
    private static final int REMOTE = IbvMr.IBV_ACCESS_LOCAL_WRITE
            | IbvMr.IBV_ACCESS_REMOTE_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ;
    private static final int SIGNALED = IbvSendWR.IBV_SEND_SIGNALED;
    private static final int CYCLES = Integer.getInteger("verbs.cycles", 100);

    private static VerbsLink link;

    @BeforeAll
    static void open() throws IOException {
        link = new VerbsLink();
    }

    @AfterAll
    static void close() throws IOException {
        link.close();
    }

    private static int stateOf(IbvQP queuePair) throws IOException {
        return link.verbs.query(queuePair, QueuePairMask.STATE).getQp_state();
    }

    @Test
    void aChainOfWritesAndASendArrivesWholeAndInOrder() throws IOException {
        Random random = new Random(7);
        int entries = 16;
        int writes = 8;
        int piece = 1500;
        int bytes = writes * entries * piece;
        MemorySegment source = link.server.allocate(2L * bytes);
        fill(source, random);
        IbvMr sourceKey = link.server.register(source, LOCAL);
        MemorySegment target = link.client.allocate(bytes);
        IbvMr targetKey = link.client.register(target, REMOTE);
        MemorySegment answer = link.client.allocate(64);
        IbvMr answerKey = link.client.register(answer, LOCAL);
        VerbsLink.Connection connection = link.connect();
        try (PreparedSends sends = link.verbs.prepareSends(64, entries);
                PreparedReceives receives = link.verbs.prepareReceives(4, 1)) {
            assertThat(receives.add(77)
                    .entry(answer.address(), 64, answerKey.getLkey())
                    .post(connection.clientQueue())).isEqualTo(1);
            MemorySegment expected = link.client.allocate(bytes);
            long at = 0;
            for (int i = 0; i < writes; i++) {
                sends.add(i, IbvSendWR.IBV_WR_RDMA_WRITE, 0)
                        .remote(target.address() + at, targetKey.getRkey());
                for (int j = 0; j < entries; j++, at += piece) {
                    long from = random.nextLong(source.byteSize() - piece);
                    sends.entry(source.address() + from, piece, sourceKey.getLkey());
                    MemorySegment.copy(source, from, expected, at, piece);
                }
            }
            MemorySegment message = link.server.allocate(16);
            message.setString(0, "all there");
            sends.add(99, IbvSendWR.IBV_WR_SEND_WITH_IMM,
                    SIGNALED | IbvSendWR.IBV_SEND_INLINE)
                    .immediate(0xCAFE1234)
                    .entry(message.address(), 16, 0);

            assertThat(sends.post(connection.serverQueue())).isEqualTo(writes + 1);
            message.fill((byte) 0);

            link.client.awaitCompletions();
            Completions received = link.client.completions;
            assertThat(received.status(0)).isEqualTo(Completions.SUCCESS);
            assertThat(received.opcode(0)).isEqualTo(Completions.RECEIVE);
            assertThat(received.workRequestId(0)).isEqualTo(77);
            assertThat(received.bytes(0)).isEqualTo(16);
            assertThat(received.hasImmediate(0)).isTrue();
            assertThat(received.immediate(0)).isEqualTo(0xCAFE1234);
            assertThat(received.queuePairNumber(0))
                    .isEqualTo(connection.clientQueue().getQp_num());
            assertThat(answer.getString(0)).isEqualTo("all there");
            assertThat(target.mismatch(expected)).isEqualTo(-1);

            assertThat(link.server.awaitCompletions()).as("only the last one is signalled")
                    .isEqualTo(1);
            assertThat(link.server.completions.workRequestId(0)).isEqualTo(99);
        }
        link.disconnect(connection);
    }

    @Test
    void aReadScattersThePeersMemory() throws IOException {
        MemorySegment remote = link.client.allocate(10_000);
        fill(remote, new Random(8));
        IbvMr remoteKey = link.client.register(remote, REMOTE);
        MemorySegment landing = link.server.allocate(10_000);
        IbvMr landingKey = link.server.register(landing, LOCAL);
        VerbsLink.Connection connection = link.connect();
        try (PreparedSends sends = link.verbs.prepareSends(1, 16)) {
            sends.add(5, IbvSendWR.IBV_WR_RDMA_READ, SIGNALED)
                    .remote(remote.address(),
                            remoteKey.getRkey());
            for (int i = 0; i < 10; i++) {
                sends.entry(landing.address() + i * 1000L, 1000, landingKey.getLkey());
            }
            assertThat(sends.post(connection.serverQueue())).isEqualTo(1);
            link.server.awaitCompletions();
            assertThat(link.server.completions.status(0)).isEqualTo(Completions.SUCCESS);
            assertThat(landing.mismatch(remote)).isEqualTo(-1);
        }
        link.disconnect(connection);
    }

    @Test
    void aWrongKeyIsARemoteAccessErrorAndFlushesTheRest() throws IOException {
        MemorySegment source = link.server.allocate(4096);
        IbvMr sourceKey = link.server.register(source, LOCAL);
        MemorySegment target = link.client.allocate(4096);
        IbvMr targetKey = link.client.register(target, REMOTE);
        VerbsLink.Connection connection = link.connect();
        try (PreparedSends sends = link.verbs.prepareSends(2, 1)) {
            for (int i = 0; i < 2; i++) {
                sends.add(i, IbvSendWR.IBV_WR_RDMA_WRITE, SIGNALED)
                        .remote(target.address(), targetKey.getRkey() ^ 0x5500)
                        .entry(source.address(), 4096, sourceKey.getLkey());
            }
            sends.post(connection.serverQueue());
            int seen = 0;
            while (seen < 2) {
                int polled = link.server.awaitCompletions();
                for (int i = 0; i < polled; i++, seen++) {
                    assertThat(link.server.completions.workRequestId(i)).isEqualTo(seen);
                    assertThat(link.server.completions.status(i)).isEqualTo(seen == 0
                            ? Completions.REMOTE_ACCESS_ERROR
                            : Completions.FLUSHED);
                }
            }
            assertThat(link.verbs.statusText(Completions.REMOTE_ACCESS_ERROR))
                    .containsIgnoringCase("remote access");
            assertThat(stateOf(connection.serverQueue()))
                    .isEqualTo(IbvQP.IBV_QPS_ERR);
        }
        VerbsLink.destroy(connection);
    }

    @Test
    void unmappedMemoryIsNotRegistered() {
        assertThatThrownBy(() -> link.server.verbs.register(link.server.domain, 0x1000, 4096, 1))
                .isInstanceOfSatisfying(VerbsException.class,
                        e -> assertThat(e.errno()).isEqualTo(14))
                .hasMessageContaining("ibv_reg_mr");
    }

    @Test
    void aQueuePairMovedToErrorFlushesItsReceives() throws IOException {
        MemorySegment memory = link.server.allocate(4096);
        IbvMr key = link.server.register(memory, LOCAL);
        VerbsLink.Connection connection = link.connect();
        try (PreparedReceives receives = link.verbs.prepareReceives(8, 1)) {
            for (int i = 0; i < 8; i++) {
                receives.add(i).entry(memory.address() + i * 512L, 512, key.getLkey());
            }
            assertThat(receives.post(connection.serverQueue())).isEqualTo(8);
            link.verbs.toError(connection.serverQueue());
            int flushed = 0;
            while (flushed < 8) {
                int polled = link.server.awaitCompletions();
                for (int i = 0; i < polled; i++, flushed++) {
                    assertThat(link.server.completions.status(i)).isEqualTo(Completions.FLUSHED);
                }
            }
        }
        VerbsLink.destroy(connection);
    }

    @Test
    void aSleeperWakesForACompletionAndForASignal() throws Exception {
        MemorySegment memory = link.client.allocate(64);
        IbvMr key = link.client.register(memory, LOCAL);
        VerbsLink.Connection connection = link.connect();
        var arm = link.client.queue.reqNotification(false);
        try (EventDescriptor wake = new EventDescriptor();
                PollSet set = new PollSet(link.client.channel.getFd(), wake.descriptor());
                PreparedReceives receives = link.verbs.prepareReceives(1, 1);
                PreparedSends sends = link.verbs.prepareSends(1, 1)) {
            arm.execute();
            assertThat(link.client.completions.poll(link.client.queue)).isZero();
            Thread.startVirtualThread(wake::signal);
            assertThat(set.await(VerbsLink.TIMEOUT_MILLIS)).isEqualTo(1);
            assertThat(set.isReady(0)).isFalse();
            assertThat(set.isReady(1)).isTrue();
            wake.clear();
            assertThat(set.await(0)).isZero();

            receives.add(1)
                    .entry(memory.address(), 64, key.getLkey())
                    .post(connection.clientQueue());
            sends.add(2, IbvSendWR.IBV_WR_SEND, SIGNALED | IbvSendWR.IBV_SEND_INLINE)
                    .entry(link.server.allocate(8).address(), 8, 0);
            sends.post(connection.serverQueue());
            assertThat(set.await(VerbsLink.TIMEOUT_MILLIS)).isEqualTo(1);
            assertThat(set.isReady(0)).isTrue();
            assertThat(link.client.channel.getCqEvent(link.client.queue, 0)).isTrue();
            assertThat(link.client.channel.getCqEvent(link.client.queue, 0)).isFalse();
            link.client.queue.ackEvents(1);
            link.client.awaitCompletions();
            link.server.awaitCompletions();
        }
        link.disconnect(connection);
    }

    @Test
    void postingAndPollingAllocateNothing() throws IOException {
        MemorySegment source = link.server.allocate(4096);
        IbvMr sourceKey = link.server.register(source, LOCAL);
        MemorySegment target = link.client.allocate(4096);
        IbvMr targetKey = link.client.register(target, REMOTE);
        VerbsLink.Connection connection = link.connect();
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        IbvQP queuePair = connection.serverQueue();
        try (PreparedSends sends = link.verbs.prepareSends(4, 2)) {
            write(sends, queuePair, source, sourceKey, target, targetKey, 200);
            long before = threads.getCurrentThreadAllocatedBytes();
            long none = threads.getCurrentThreadAllocatedBytes() - before;
            write(sends, queuePair, source, sourceKey, target, targetKey, 500);
            long allocated = threads.getCurrentThreadAllocatedBytes() - before;
            assertThat(allocated).as("bytes in 1000 posts").isLessThanOrEqualTo(2 * none);
        }
        link.disconnect(connection);
    }

    private void write(PreparedSends sends, IbvQP queuePair, MemorySegment source,
            IbvMr sourceKey, MemorySegment target, IbvMr targetKey, int times) {
        for (int i = 0; i < times; i++) {
            sends.clear()
                    .add(i, IbvSendWR.IBV_WR_RDMA_WRITE, 0)
                    .remote(target.address(), targetKey.getRkey())
                    .entry(source.address(), 64, sourceKey.getLkey())
                    .entry(source.address() + 512, 64, sourceKey.getLkey());
            sends.add(i, IbvSendWR.IBV_WR_RDMA_WRITE, SIGNALED)
                    .remote(target.address() + 1024, targetKey.getRkey())
                    .entry(source.address(), 64, sourceKey.getLkey());
            sends.post(queuePair);
            while (link.server.completions.poll(link.server.queue) == 0) {
                Thread.onSpinWait();
            }
            if (link.server.completions.status(0) != Completions.SUCCESS
                    || link.server.completions.workRequestId(0) != i) {
                throw new AssertionError("write " + i + " failed");
            }
        }
    }

    @Test
    void queuePairsConnectedByHandWriteToEachOther() throws IOException {
        MemorySegment source = link.server.allocate(4096);
        fill(source, new Random(9));
        IbvMr sourceKey = link.server.register(source, LOCAL);
        MemorySegment target = link.client.allocate(4096);
        IbvMr targetKey = link.client.register(target, REMOTE);
        IbvQP here = link.verbs.createQueuePair(link.server.domain,
                link.server.queuePair(4, 4, 1));
        IbvQP there = link.verbs.createQueuePair(link.client.domain,
                link.client.queuePair(4, 4, 1));
        link.ready(here, link.devices.getFirst(), there, link.devices.getLast());
        link.ready(there, link.devices.getLast(), here, link.devices.getFirst());
        try (PreparedSends sends = link.verbs.prepareSends(1, 1)) {
            sends.add(3, IbvSendWR.IBV_WR_RDMA_WRITE, SIGNALED)
                    .remote(target.address(), targetKey.getRkey())
                    .entry(source.address(), 4096, sourceKey.getLkey());
            assertThat(sends.post(here)).isEqualTo(1);
            link.server.awaitCompletions();
            assertThat(link.server.completions.status(0)).isEqualTo(Completions.SUCCESS);
            assertThat(target.mismatch(source)).isEqualTo(-1);
        }
        link.verbs.destroyQueuePair(here);
        link.verbs.destroyQueuePair(there);
    }

    @Test
    void aThousandConnectionsLeaveNoDescriptor() throws IOException {
        link.disconnect(link.connect());
        long before = descriptors();
        for (int i = 0; i < CYCLES; i++) {
            link.disconnect(link.connect());
        }
        assertThat(descriptors()).isEqualTo(before);
    }

    @Test
    void anUnknownDeviceIsUnavailable() {
        assertThatThrownBy(() -> link.verbs.open("mlx5_none"))
                .isInstanceOf(VerbsUnavailableException.class)
                .hasMessage("not available: no RDMA device named mlx5_none");
    }

    @Test
    void aDeviceSaysWhatItHolds() throws IOException {
        DeviceLimits limits = link.verbs.limits(link.server.context);
        assertThat(limits.scatterEntries()).isGreaterThanOrEqualTo(16);
        assertThat(limits.registrationBytes()).isGreaterThan(2L << 30);
        assertThat(limits.initiatorReads()).isPositive();
        PortAttributes port = link.verbs.port(link.server.context, 1);
        assertThat(port.isActive()).isTrue();
        assertThat(port.mtuBytes()).isGreaterThanOrEqualTo(256);
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }

    private static void fill(MemorySegment memory, Random random) {
        byte[] bytes = new byte[(int) memory.byteSize()];
        random.nextBytes(bytes);
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
    }
}
