package io.railhead.cache.memory;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The right to touch one page's bytes until {@link #close}. A lease is moved, never shared: who
 * receives it in a parameter named {@code owned…} closes it on every path. A second close throws.
 */
public final class Lease implements AutoCloseable {
    static final Runnable NOTHING = () -> {};

    private final Page page;
    private final Runnable afterClose;
    private final AtomicBoolean closed = new AtomicBoolean();

    Lease(Page page, Runnable afterClose) {
        this.page = page;
        this.afterClose = afterClose;
    }

    public Page page() {
        return page;
    }

    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            throw new IllegalStateException("lease closed twice");
        }
        page.endLease();
        afterClose.run();
    }

    void requireOpen() {
        if (closed.get()) {
            throw new IllegalStateException("lease is closed");
        }
    }
}
