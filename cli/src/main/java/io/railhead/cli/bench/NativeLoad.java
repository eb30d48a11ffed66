package io.railhead.cli.bench;

import io.railhead.client.channel.ClientChannel;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerOrigin;
import io.railhead.protocol.channel.Request;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * GETs on one native channel, with as many requests under way as others have connections: one after
 * another, or in a few batches that follow one another.
 */
final class NativeLoad implements Load, Runnable {
    private static final int BATCHES = 4;

    private final SharedWindows windows;
    private final ClientChannel channel;
    private final long objectBytes;
    private final List<List<Request>> batches = new ArrayList<>();
    private final Latencies latencies = new Latencies();
    private final Counter bytes = new Counter();
    private final Thread thread = Thread.ofPlatform().name("client-0").unstarted(this);
    private volatile boolean stopped;
    private volatile @Nullable Throwable failure;

    private NativeLoad(MeasuredRun measuredRun, SharedWindows ownedWindows) {
        windows = ownedWindows;
        channel = windows.channel();
        objectBytes = measuredRun.objectBytes();
        int batchCount = Math.min(BATCHES, measuredRun.connections());
        for (int batch = 0; batch < batchCount; batch++) {
            List<Request> requests = new ArrayList<>();
            for (int i = batch; i < measuredRun.connections(); i += batchCount) {
                requests.add(windows.get(i));
            }
            batches.add(List.copyOf(requests));
        }
    }

    static NativeLoad open(MeasuredRun measuredRun) throws IOException {
        return new NativeLoad(measuredRun, SharedWindows.open(measuredRun));
    }

    @Override
    public void start() {
        thread.start();
    }

    @Override
    public void run() {
        try {
            if (batches.size() == 1) {
                oneByOne(batches.getFirst().getFirst());
            } else {
                inBatches();
            }
            for (int i = 0; i < batches.stream().mapToInt(List::size).sum(); i++) {
                windows.requireDelivered(i);
            }
        } catch (IOException | RuntimeException | Error e) {
            failure = e;
        }
    }

    private void oneByOne(Request request) throws IOException {
        do {
            long began = System.nanoTime();
            settle(channel.call(request));
            latencies.add(System.nanoTime() - began);
        } while (!stopped);
    }

    private void inBatches() {
        Deque<List<CompletionStage<Answer>>> underWay = new ArrayDeque<>();
        // All of them once, whenever it is stopped.
        for (int next = 0; !stopped || next < batches.size(); next++) {
            if (underWay.size() == batches.size()) {
                settle(underWay.remove());
            }
            underWay.add(send(batches.get(next % batches.size())));
        }
        while (!underWay.isEmpty()) {
            settle(underWay.remove());
        }
    }

    private List<CompletionStage<Answer>> send(List<Request> batch) {
        long began = System.nanoTime();
        List<CompletionStage<Answer>> answers = channel.send(batch);
        for (CompletionStage<Answer> answer : answers) {
            var _ = answer.thenRun(() -> latencies.add(System.nanoTime() - began));
        }
        return answers;
    }

    private void settle(List<CompletionStage<Answer>> answers) {
        for (CompletionStage<Answer> answer : answers) {
            settle(answer.toCompletableFuture().join());
        }
    }

    private void settle(Answer answer) {
        if (answer.status() != 200 || answer.bytesMoved() != objectBytes
                || answer.cache() == AnswerOrigin.NONE) {
            throw new CompletionException("not delivered: " + answer, null);
        }
        bytes.add(objectBytes);
    }

    @Override
    public long bytes() {
        return bytes.get();
    }

    @Override
    public List<Latencies> latencies() {
        return List.of(latencies);
    }

    @Override
    public void requireRunning() throws IOException {
        Throwable e = failure;
        if (e != null) {
            throw new IOException(e.getMessage(), e);
        }
    }

    @Override
    public void close() throws IOException {
        stopped = true;
        try {
            Load.join(thread);
        } finally {
            windows.close();
        }
        requireRunning();
    }
}
