package io.railhead.cache.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The right to touch one page's bytes until {@link #close}. A lease is moved, never shared: a
 * callee that takes it in a parameter named {@code owned…} closes it on every path. A second close
 * throws.
 */
public final class Lease implements AutoCloseable {
    static final Runnable NOTHING = () -> {};
    private static final VarHandle CLOSED;

    static {
        try {
            CLOSED = MethodHandles.lookup().findVarHandle(Lease.class, "closed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Page page;
    private final Runnable afterClose;
    private final int opened;
    private volatile boolean closed;

    /** @param opened the tick of its opening, for {@link LeaseAges#closed} */
    Lease(Page page, Runnable afterClose, int opened) {
        this.page = page;
        this.afterClose = afterClose;
        this.opened = opened;
    }

    public Page page() {
        return page;
    }

    @Override
    public void close() {
        if (!CLOSED.compareAndSet(this, false, true)) {
            throw new IllegalStateException("lease closed twice");
        }
        page.endLease(opened);
        afterClose.run();
    }

    void requireOpen() {
        if (closed) {
            throw new IllegalStateException("lease is closed");
        }
    }
}
