package io.railhead.rdma.dc;

import static java.util.Objects.requireNonNull;

import com.ibm.disni.verbs.IbvMr;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.PageSlice;
import io.railhead.os.adapter.Adapter;
import io.railhead.os.devices.Gid;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.verbs.DcTarget;
import io.railhead.os.verbs.Mlx5;
import io.railhead.os.verbs.PortAttributes;
import io.railhead.os.verbs.VerbsExtensions;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.poller.CompletionQueue;
import io.railhead.rdma.session.ClientSessions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Moves bytes between a port and a target on the same port, through the gateway's own fabric, and
 * compares them. A wrong path MTU, for example, completes without moving any byte. Blocks for
 * seconds.
 *
 * @param devices returns the current devices
 */
public record DcSelfTest(DcFabricConfig config, VerbsExtensions verbs, Mlx5 mlx5,
        Supplier<List<RdmaDevice>> devices) {
    private static final int BYTES = 1 << 20;
    private static final long MEMORY_BYTES = 16L << 20;
    private static final int MIN_RNR_TIMER = 12;
    private static final int REMOTE_RIGHTS = IbvMr.IBV_ACCESS_LOCAL_WRITE
            | IbvMr.IBV_ACCESS_REMOTE_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ;
    private static final long PATIENCE_SECONDS = 20;

    /**
     * The result of the test.
     *
     * @param mtu payload bytes of a packet
     * @param bytes the bytes moved in each direction
     */
    public record Outcome(int mtu, long bytes, Duration write, Duration read) {}

    /** Runs the test; throws one line with the fault. */
    public Outcome run() throws IOException {
        ClientSessions clientSessions = new ClientSessions(Duration.ofSeconds(PATIENCE_SECONDS), 1,
                1);
        try (Arena arena = Arena.ofShared();
                DcFabric fabric = new DcFabric(config, verbs, mlx5, devices, clientSessions)) {
            if (!fabric.health().usable()) {
                throw new IOException(fabric.health().reason());
            }
            return run(fabric, arena.allocate(BYTES, 4096));
        }
    }

    /** Runs the test, and closes the fabric before the memory that it may touch. */
    private Outcome run(DcFabric fabric, MemorySegment memory) throws IOException {
        try (PageMemory pages = PageMemory.open(
                new MemoryConfig(MEMORY_BYTES, BYTES, 0, false), fabric::register)) {
            try {
                return run(fabric, pages, memory);
            } finally {
                fabric.close();
            }
        }
    }

    private Outcome run(DcFabric fabric, PageMemory pages, MemorySegment memory)
            throws IOException {
        Gid gid = new SourceGids(config, devices).requireAny();
        try (Adapter adapter = Adapter.open(verbs, config.device())) {
            PortAttributes port = verbs.port(adapter.context(), config.port());
            int mtu = config.mtu().orElse(port.mtuBytes());
            IbvMr registration = adapter.register(memory, REMOTE_RIGHTS);
            try (CompletionQueue queue = new CompletionQueue(adapter, 1);
                    DcTarget target = mlx5.createTarget(adapter.domain(), queue.queue(),
                            attributes(gid, mtu))) {
                DcClient peer = new DcClient("self-test", "self-test", gid.address(), port.lid(),
                        target.number());
                RemoteBuffer window = new RemoteBuffer(peer, memory.address(), BYTES,
                        registration.getRkey());
                return move(fabric, pages, memory, window, mtu);
            } finally {
                verbs.deregister(registration);
            }
        }
    }

    private DcTarget.Attributes attributes(Gid gid, int mtu) {
        DcFabricConfig.Sending sending = config.sending();
        return new DcTarget.Attributes(config.key().value(), config.port(), gid.index(), true,
                sending.hopLimit(), sending.trafficClass(), 0, mtu, MIN_RNR_TIMER);
    }

    private static Outcome move(DcFabric fabric, PageMemory pages, MemorySegment memory,
            RemoteBuffer window, int mtu) throws IOException {
        Page page = requireNonNull(pages.tryAllocate(new int[]{BYTES}, Pool.CACHE), "no memory")
                .getFirst();
        try {
            byte[] sent = random(1);
            Transfer transfer = fabric.begin(window);
            long started = System.nanoTime();
            await("write", transfer.write(slice(page, sent), 0));
            Duration write = Duration.ofNanos(System.nanoTime() - started);
            require("written", memory.mismatch(MemorySegment.ofArray(sent)));
            await("fence", transfer.fence());
            byte[] offered = random(2);
            memory.copyFrom(MemorySegment.ofArray(offered));
            started = System.nanoTime();
            try (PageSlice read = await("read",
                    fabric.begin(window).read(slice(page, new byte[BYTES]), 0))) {
                Duration took = Duration.ofNanos(System.nanoTime() - started);
                MemorySegment arrived = MemorySegment.ofArray(new byte[BYTES]);
                read.copyTo(arrived, 0);
                require("read", arrived.mismatch(MemorySegment.ofArray(offered)));
                return new Outcome(mtu, BYTES, write, took);
            }
        } finally {
            page.condemn();
        }
    }

    private static byte[] random(long seed) {
        byte[] bytes = new byte[BYTES];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static PageSlice slice(Page page, byte[] bytes) {
        PageSlice slice = new PageSlice(requireNonNull(page.tryRetain()), 0, 0, bytes.length);
        long at = 0;
        for (MemorySegment segment : slice.segments()) {
            MemorySegment.copy(MemorySegment.ofArray(bytes), at, segment, 0, segment.byteSize());
            at += segment.byteSize();
        }
        return slice;
    }

    private static void require(String what, long mismatch) throws IOException {
        if (mismatch >= 0) {
            throw new IOException("what was " + what + " completed and is not there from byte "
                    + mismatch + " on: the MTU of the port and rdma.dc.mtu may differ");
        }
    }

    private static <T> T await(String what, CompletionStage<T> stage) throws IOException {
        try {
            return stage.toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IOException("the " + what + " failed: " + cause.getMessage(), e);
        } catch (TimeoutException e) {
            throw new IOException("the " + what + " did not end within " + PATIENCE_SECONDS + " s",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
