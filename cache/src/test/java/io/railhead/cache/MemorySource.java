package io.railhead.cache;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A backend in memory, for tests: objects are byte arrays; each next fetch can be told to
 * misbehave. Answers come on threads of its own, or when {@link #release} is called while it is
 * held.
 */
public final class MemorySource implements PageSource, AutoCloseable {
    private static final int CHUNK_BYTES = 10_000;

    /** What goes wrong with one fetch. */
    public enum Fault {
        NONE,
        REFUSED,
        BACKEND_FAILED,
        NOT_FOUND,
        TRUNCATED,
        OVERLONG,
        THROWS
    }

    /** One ranged GET as it was asked for. */
    public record Fetch(ObjectVersion version, long offset, long length) {}

    private record Stored(ObjectVersion version, ByteBuffer bytes) {}

    private final Map<ObjectId, Stored> objects = new ConcurrentHashMap<>();
    private final List<Fetch> fetches = new CopyOnWriteArrayList<>();
    private final Queue<Fault> faults = new ConcurrentLinkedQueue<>();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Queue<Runnable> heldBack = new ArrayDeque<>();
    private final AtomicInteger answering = new AtomicInteger();
    private boolean held;

    public ObjectVersion put(ObjectId id, byte[] bytes, String etag) {
        ObjectVersion version = new ObjectVersion(id, etag, "", bytes.length);
        objects.put(id, new Stored(version, ByteBuffer.wrap(bytes.clone())));
        return version;
    }

    public void delete(ObjectId id) {
        objects.remove(id);
    }

    public List<Fetch> fetches() {
        return fetches;
    }

    /** The faults of the next fetches, in order. */
    public MemorySource failing(Fault... next) {
        faults.addAll(List.of(next));
        return this;
    }

    /** From now on, answers wait for {@link #release}. */
    public synchronized void hold() {
        held = true;
    }

    public void release() {
        synchronized (this) {
            held = false;
            heldBack.forEach(this::run);
            heldBack.clear();
        }
    }

    private synchronized void answer(Runnable task) {
        if (held) {
            heldBack.add(task);
        } else {
            run(task);
        }
    }

    private void run(Runnable task) {
        answering.incrementAndGet();
        threads.execute(() -> {
            try {
                task.run();
            } finally {
                answering.decrementAndGet();
            }
        });
    }

    /**
     * Until every answer that is not held back was taken to its end: a reader is told of a page
     * before the page is indexed, or let go.
     */
    public void awaitAnswered() {
        CacheRig.await(() -> answering.get() == 0);
    }

    @Override
    public void fetch(ObjectVersion version, long offset, long length, Sink sink) {
        fetches.add(new Fetch(version, offset, length));
        Fault next = faults.poll();
        Fault fault = next == null ? Fault.NONE : next;
        if (fault == Fault.THROWS) {
            throw new IllegalStateException("cannot send");
        }
        answer(() -> answer(version, offset, length, sink, fault));
    }

    private void answer(ObjectVersion version, long offset, long length, Sink sink, Fault fault) {
        Stored stored = objects.get(version.object());
        if (stored == null || fault == Fault.NOT_FOUND) {
            sink.fail(because(FillException.Reason.NOT_FOUND));
        } else if (!stored.version().equals(version)) {
            sink.fail(because(FillException.Reason.VERSION_CHANGED));
        } else if (fault == Fault.REFUSED) {
            sink.fail(because(FillException.Reason.REFUSED));
        } else if (fault == Fault.BACKEND_FAILED) {
            send(stored.bytes(), offset, length / 2, sink);
            sink.fail(because(FillException.Reason.BACKEND_FAILED));
        } else {
            send(stored.bytes(), offset, fault == Fault.TRUNCATED ? length - 1 : length, sink);
            if (fault == Fault.OVERLONG) {
                sink.write(ByteBuffer.allocate(1));
            }
            sink.complete();
        }
    }

    private static FillException because(FillException.Reason reason) {
        return new FillException(reason, "told to fail", null);
    }

    private static void send(ByteBuffer bytes, long offset, long length, Sink sink) {
        int at = (int) offset;
        int end = (int) (offset + length);
        while (at < end) {
            int count = Math.min(CHUNK_BYTES, end - at);
            at += at / CHUNK_BYTES % 2 == 0
                    ? write(bytes.slice(at, count), sink)
                    : land(bytes.slice(at, count), sink);
        }
    }

    private static int write(ByteBuffer chunk, Sink sink) {
        int count = chunk.remaining();
        sink.write(chunk);
        return count;
    }

    /** As a socket does that receives into the sink's memory. */
    private static int land(ByteBuffer chunk, Sink sink) {
        ByteBuffer room = sink.room();
        if (room == null) {
            return write(chunk, sink);
        }
        int count = Math.min(chunk.remaining(), room.remaining());
        room.put(chunk.limit(count));
        sink.landed(count);
        return count;
    }

    /** What a HEAD would say now; null if there is no such object. */
    public @Nullable ObjectMetadata head(ObjectId id, long generation, long atNanos) {
        Stored stored = objects.get(id);
        return stored == null
                ? null
                : new ObjectMetadata(stored.version(), Map.of("etag", stored.version().etag()),
                        atNanos, generation);
    }

    /** A discovery that asks for the first {@code length} bytes. */
    public DiscoverySource discovering(ObjectCache cache, ObjectId id, long length) {
        return flight -> {
            ObjectMetadata metadata = head(id, cache.writes().epoch(id), System.nanoTime());
            answer(() -> discovered(metadata, length, flight));
        };
    }

    private void discovered(@Nullable ObjectMetadata metadata, long length,
            DiscoverySource.Flight flight) {
        if (metadata == null || faults.poll() == Fault.REFUSED) {
            flight.failed();
            return;
        }
        ByteBuffer bytes = requireNonNull(objects.get(metadata.version().object())).bytes();
        long count = Math.min(length, bytes.capacity());
        Sink sink = flight.found(metadata, 0, count);
        if (sink != null) {
            send(bytes, 0, count, sink);
            sink.complete();
        }
    }

    @Override
    public void close() {
        release();
        threads.close();
    }
}
