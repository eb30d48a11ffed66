package io.railhead.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Equal windows of one registered buffer, each lent to one request at a time. The buffer is
 * allocated at the first loan. If a gateway may still touch one of its windows, another buffer
 * replaces it, and none of its windows is lent again. Any thread.
 *
 * <pre>
 *  |window 0      |window 1      | ... |window n-1    |     one buffer, one key
 * </pre>
 */
final class Windows implements AutoCloseable {
    private final LongFunction<RegisteredBuffer> memory;
    private final int windowBytes;
    private final int count;
    private final BlockingQueue<Window> idle = new LinkedBlockingQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private @Nullable RegisteredBuffer buffer;
    private boolean closed;

    Windows(LongFunction<RegisteredBuffer> memory, int windowBytes, int count) {
        this.memory = memory;
        this.windowBytes = windowBytes;
        this.count = count;
    }

    int windowBytes() {
        return windowBytes;
    }

    /** Fetches a part's bytes into a window. */
    interface Fetch {
        Part into(PartRequest request, Window window) throws IOException;
    }

    /** Lends a window while a part's bytes are fetched and delivered. */
    Part lendFor(PartRequest request, PartSink sink, Fetch fetch) throws IOException {
        Window window = lend();
        try {
            Part part = fetch.into(request, window);
            sink.accept(part.offset(), window.bytes(part.bytes()));
            return part;
        } finally {
            giveBack(window);
        }
    }

    /** Waits for a window. */
    Window lend() throws InterruptedIOException {
        begin();
        waiting.incrementAndGet();
        try {
            Window window = idle.take();
            while (window.buffer().isHeld()) {
                window = idle.take();
            }
            window.buffer().hold();
            return window;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for a window");
        } finally {
            waiting.decrementAndGet();
        }
    }

    /** Returns a window that no thread waits for; null if there is none. */
    @Nullable
    Window tryLend() {
        begin();
        Window window = waiting.get() > 0 ? null : idle.poll();
        while (window != null && window.buffer().isHeld()) {
            window = idle.poll();
        }
        if (window != null) {
            window.buffer().hold();
        }
        return window;
    }

    /** Returns a window that no request names any more. */
    void giveBack(Window window) {
        if (window.buffer().isHeld()) {
            replace(window.buffer());
        } else {
            idle.add(window);
        }
        window.buffer().release();
    }

    /** Replaces the buffer. Its memory is freed when its last lent window is returned. */
    @SuppressWarnings("ReferenceEquality")
    private synchronized void replace(RegisteredBuffer held) {
        if (buffer == held && !closed) {
            held.close();
            buffer = null;
            begin();
        }
    }

    private synchronized void begin() {
        if (buffer == null) {
            RegisteredBuffer fresh = memory.apply((long) windowBytes * count);
            for (int i = 0; i < count; i++) {
                idle.add(new Window(fresh, (long) i * windowBytes, windowBytes));
            }
            buffer = fresh;
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (buffer != null) {
            buffer.close();
        }
    }
}
