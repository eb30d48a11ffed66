package io.railhead.cli.bench;

import io.railhead.os.Mapping;
import io.railhead.os.MemoryFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The bound for one-sided delivery on one host: one thread copies the object, from memory like a
 * cache's into windows like a client's, and does nothing else.
 */
final class CopyLoad implements Load, Runnable {
    private final Mapping object;
    private final Mapping client;
    private final List<MemorySegment> windows = new ArrayList<>();
    private final Latencies latencies = new Latencies();
    private final Counter bytes = new Counter();
    private final Thread thread = Thread.ofPlatform().name("client-0").unstarted(this);
    private volatile boolean stopped;

    private CopyLoad(long objectBytes, int windowCount) {
        object = Mapping.anonymous(objectBytes);
        object.segment().copyFrom(MemorySegment.ofArray(BenchObject.bytes((int) objectBytes)));
        try (MemoryFile file = MemoryFile.create("bench", windowCount * objectBytes)) {
            client = file.map();
        }
        client.populate();
        for (int i = 0; i < windowCount; i++) {
            windows.add(client.segment().asSlice(i * objectBytes, objectBytes));
        }
    }

    static CopyLoad open(MeasuredRun measuredRun) {
        return new CopyLoad(measuredRun.objectBytes(),
                SharedWindows.count(measuredRun.objectBytes(), measuredRun.connections()));
    }

    @Override
    public void start() {
        thread.start();
    }

    @Override
    public void run() {
        for (int next = 0; !stopped || next < windows.size(); next++) {
            long began = System.nanoTime();
            windows.get(next % windows.size()).copyFrom(object.segment());
            latencies.add(System.nanoTime() - began);
            bytes.add(object.segment().byteSize());
        }
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
    public void requireRunning() {}

    @Override
    public void close() throws IOException {
        stopped = true;
        try {
            Load.join(thread);
            for (MemorySegment window : windows) {
                if (window.mismatch(object.segment()) != -1) {
                    throw new IOException("what was copied is not there");
                }
            }
        } finally {
            client.close();
            object.close();
        }
    }
}
