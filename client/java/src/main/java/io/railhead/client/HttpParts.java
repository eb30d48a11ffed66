package io.railhead.client;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;

/** Parts in HTTP bodies: each is read whole into a heap buffer before it is delivered. */
final class HttpParts implements PartTransport {
    static final String CACHE = "x-cache";

    private final S3Http http;
    private final int partBytes;
    private final Executor blocking;
    private final Semaphore turns;
    private volatile boolean closed;
    private final long singlePutBytes;
    private final ObjectHeads heads;
    private final PathCounters pathCounters;
    private final ConcurrentLinkedQueue<ByteBuffer> idle = new ConcurrentLinkedQueue<>();

    /**
     * @param partBytes the most bytes of one read
     * @param singlePutBytes the largest object that is stored by one request
     * @param blocking runs calls that must not block their caller
     * @param streams the number of such calls at a time
     */
    HttpParts(S3Http http, int partBytes, long singlePutBytes, Executor blocking, int streams,
            PathCounters pathCounters) {
        this.http = http;
        this.partBytes = partBytes;
        this.singlePutBytes = singlePutBytes;
        this.blocking = blocking;
        this.turns = new Semaphore(streams, true);
        this.heads = new ObjectHeads(http);
        this.pathCounters = pathCounters;
    }

    @Override
    public Part fetch(PartRequest request, PartSink sink) throws IOException {
        ByteBuffer buffer = borrow();
        try {
            Part part = Attempts.idempotent(() -> read(request, buffer));
            sink.accept(part.offset(), buffer);
            return part;
        } finally {
            idle.add(buffer);
        }
    }

    /** Reads one range whole into the window. Blocks. */
    Part fetchInto(PartRequest request, Window window) throws IOException {
        return Attempts.idempotent(() -> read(request, window.bytes(request.bytes())));
    }

    private Part read(PartRequest request, ByteBuffer buffer) throws IOException {
        HttpAnswer answer = http.require(request.call());
        boolean complete = false;
        try {
            Part part = readBody(answer, request, buffer);
            complete = true;
            answer.findHeader(CACHE).ifPresent(pathCounters::read);
            return part;
        } finally {
            if (!complete) {
                answer.abort();
            }
            answer.close();
        }
    }

    /** Fills the buffer with the response's body, and makes it ready to be read. */
    static Part readBody(HttpAnswer answer, PartRequest request, ByteBuffer buffer)
            throws IOException {
        Part part = Part.of(answer, request);
        if (Part.contentLength(answer) != part.bytes()) {
            throw new PermanentException("the body's length is not its range's");
        }
        answer.readFully(buffer.clear().limit(part.bytes()));
        buffer.flip();
        return part;
    }

    private ByteBuffer borrow() {
        ByteBuffer buffer = idle.poll();
        return buffer != null ? buffer : ByteBuffer.allocate(partBytes);
    }

    @Override
    public RegisteredBuffer register(long bytes) {
        return new RegisteredBuffer(new PlainMemory(bytes), _ -> {});
    }

    @Override
    public List<CompletableFuture<Part>> read(List<Read> reads) {
        return inBackground(reads, this::fetchInto);
    }

    /** Reads one range into a window. Blocks. */
    interface Reading {
        Part read(PartRequest request, Window window) throws IOException;
    }

    /** Reads each part on a thread of its own, as many at a time as there are streams. */
    List<CompletableFuture<Part>> inBackground(List<Read> reads, Reading reading) {
        List<CompletableFuture<Part>> parts = new ArrayList<>(reads.size());
        for (Read read : reads) {
            parts.add(inBackground(read.request(), read.window(), reading));
        }
        return parts;
    }

    CompletableFuture<Part> inBackground(PartRequest request, Window window, Reading reading) {
        CompletableFuture<Part> part = new CompletableFuture<>();
        window.buffer().hold();
        blocking.execute(() -> {
            try {
                Part read = inTurn(request, window, reading);
                window.buffer().release();
                part.complete(read);
            } catch (IOException | RuntimeException | Error e) {
                window.buffer().release();
                part.completeExceptionally(e);
            }
        });
        return part;
    }

    private Part inTurn(PartRequest request, Window window, Reading reading) throws IOException {
        turns.acquireUninterruptibly();
        try {
            if (closed) {
                throw new IOException("the client is closed");
            }
            return reading.read(request, window);
        } finally {
            turns.release();
        }
    }

    @Override
    public String store(StoreRequest request) throws IOException {
        Call.Body body = new Call.Body(request.bytes(), request.content()::stream);
        Call call = request.call().body(body);
        // A part may be sent again under its number; retrying an object's PUT is the user's
        // decision.
        if (request.upload() == null) {
            return etag(http.requireOnce(call, request.name()));
        }
        return Attempts.idempotent(() -> etag(http.require(call)));
    }

    private static String etag(HttpAnswer answer) throws IOException {
        try (answer) {
            return answer.requireHeader("ETag");
        }
    }

    @Override
    public long storeLimit() {
        return singlePutBytes;
    }

    @Override
    public ObjectHeads.Head head(ObjectName name) throws IOException {
        return heads.head(name);
    }

    @Override
    public void close() {
        closed = true;
        idle.clear();
    }

    /** Memory that only this process writes. */
    private static final class PlainMemory implements FabricConnector.Memory {
        private final Arena arena = Arena.ofShared();
        private final MemorySegment segment;

        PlainMemory(long bytes) {
            segment = arena.allocate(bytes);
        }

        @Override
        public MemorySegment segment() {
            return segment;
        }

        @Override
        public void close() {
            arena.close();
        }
    }
}
