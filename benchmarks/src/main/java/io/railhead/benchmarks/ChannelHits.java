package io.railhead.benchmarks;

import com.sun.management.ThreadMXBean;
import io.railhead.cache.memory.Lease;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.PageSlice;
import io.railhead.client.channel.ClientChannel;
import io.railhead.client.loopback.LoopbackClient;
import io.railhead.os.Mapping;
import io.railhead.os.MemoryFile;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerOrigin;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestView;
import io.railhead.rdma.channel.RequestChannel;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.loopback.LoopbackConfig;
import io.railhead.rdma.loopback.LoopbackFabric;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.ClientSessions;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Hits over the loopback channel with nothing behind it: what the channel alone costs. Run by hand:
 *
 * <pre>
 * java -cp 'benchmarks/target/*:benchmarks/target/lib/*' io.railhead.benchmarks.ChannelHits [seconds]
 * </pre>
 */
public final class ChannelHits {
    private static final int HIT_BYTES = 4096;
    private static final int DEPTH = 64;
    private static final int BATCH = DEPTH / 2;
    private static final int LATENCIES = 20_000;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private ChannelHits() {}

    /** Delivers the same page to every request. */
    private static final class OnePage implements RequestHandler {
        private final Page page;
        private final @Nullable PageSlice[] slices = new PageSlice[1];
        volatile @Nullable Thread thread;

        OnePage(Page page) {
            this.page = page;
        }

        @Override
        public void handle(RequestView request, RequestChannel channel) {
            if (thread == null) {
                thread = Thread.currentThread();
            }
            Lease lease = Objects.requireNonNull(page.tryRetain());
            slices[0] = new PageSlice(lease, 0, 0, HIT_BYTES);
            channel.deliver(
                    channel.session()
                            .window(request.bufferKey(), request.offset(), request.window()),
                    slices, 1,
                    Answer.delivered(request.id(), 200, HIT_BYTES, HIT_BYTES, 0, 0,
                            "\"d41d8cd98f00b204e9800998ecf8427e\"", "", AnswerOrigin.HIT));
        }

        @Override
        public void cancel(int requestId, RequestChannel channel) {}

        @Override
        public void ended(RequestChannel channel) {}
    }

    public static void main(String[] args) throws IOException {
        long seconds = args.length == 0 ? 5 : Long.parseLong(args[0]);
        Path folder = Files.createTempDirectory("railhead-bench");
        LoopbackConfig config = LoopbackConfig.at(folder.resolve("loopback.sock"));
        ClientSessions clientSessions = new ClientSessions(PATIENCE, 4, 4);
        try (PageMemory memory = PageMemory.open(new MemoryConfig(64 << 20, 1 << 20, 0, false),
                _ -> {})) {
            Page page = Objects
                    .requireNonNull(memory.tryAllocate(new int[]{HIT_BYTES}, Pool.CACHE))
                    .getFirst();
            page.write(ByteBuffer.allocate(HIT_BYTES));
            page.publish();
            OnePage handler = new OnePage(page);
            try (LoopbackFabric _ = new LoopbackFabric(config, clientSessions, handler)) {
                ClientSession clientSession = Objects.requireNonNull(
                        clientSessions.open("trainer", "loopback", _ -> new byte[32]));
                try (LoopbackClient peer = LoopbackClient.connect(config.socket(),
                        clientSession.id(),
                        new byte[32], PATIENCE);
                        MemoryFile file = MemoryFile.create("bench", DEPTH * HIT_BYTES);
                        Mapping mapping = file.map()) {
                    mapping.populate();
                    int key = peer.register(file, mapping.segment().address());
                    measure(peer.channel(), key, handler, seconds);
                }
            }
            page.condemn();
        }
        Files.delete(folder);
    }

    private static void measure(ClientChannel channel, int key, OnePage handler, long seconds)
            throws IOException {
        for (int round = 0; round < 3; round++) {
            pipelined(channel, key, handler, seconds);
            oneByOne(channel, key, handler);
        }
    }

    private static void pipelined(ClientChannel channel, int key, OnePage handler, long seconds) {
        List<Request> first = batch(key, 0);
        List<Request> second = batch(key, BATCH);
        long allocated = allocated(handler);
        long hits = 0;
        long began = System.nanoTime();
        long until = began + seconds * 1_000_000_000;
        List<CompletionStage<Answer>> before = channel.send(first);
        while (System.nanoTime() < until) {
            List<CompletionStage<Answer>> next = channel.send(second);
            hits += join(before);
            before = channel.send(first);
            hits += join(next);
        }
        hits += join(before);
        double elapsed = (System.nanoTime() - began) / 1e9;
        System.out.printf("depth %d: %,.0f hits/s, %d gateway bytes allocated per hit%n", DEPTH,
                hits / elapsed, (allocated(handler) - allocated) / hits);
    }

    private static int join(List<CompletionStage<Answer>> answers) {
        for (CompletionStage<Answer> answer : answers) {
            if (!answer.toCompletableFuture().join().isSuccess()) {
                throw new IllegalStateException("not a hit: " + answer);
            }
        }
        return answers.size();
    }

    private static List<Request> batch(int key, int firstId) {
        List<Request> batch = new ArrayList<>();
        for (int id = firstId; id < firstId + BATCH; id++) {
            batch.add(request(id, key));
        }
        return batch;
    }

    private static Request request(int id, int key) {
        return Request.get(id, "training", "shard-000123/sample-00042.bin", key,
                (long) id * HIT_BYTES, HIT_BYTES);
    }

    private static void oneByOne(ClientChannel channel, int key, OnePage handler)
            throws IOException {
        Request request = request(0, key);
        long[] nanos = new long[LATENCIES];
        long allocated = allocated(handler);
        for (int i = 0; i < LATENCIES; i++) {
            long began = System.nanoTime();
            Answer answer = channel.call(request);
            nanos[i] = System.nanoTime() - began;
            if (!answer.isSuccess()) {
                throw new IllegalStateException("not a hit: " + answer);
            }
        }
        long bytes = (allocated(handler) - allocated) / LATENCIES;
        Arrays.sort(nanos);
        System.out.printf("depth 1: p50 %.1f us, p99 %.1f us, %d gateway bytes per hit%n",
                nanos[LATENCIES / 2] / 1e3, nanos[LATENCIES * 99 / 100] / 1e3, bytes);
    }

    private static long allocated(OnePage handler) {
        Thread thread = handler.thread;
        return thread == null
                ? 0
                : ((ThreadMXBean) ManagementFactory.getThreadMXBean())
                        .getThreadAllocatedBytes(thread.threadId());
    }
}
