package io.railhead.cache.memory;

/**
 * The right to touch one page's bytes until {@link #close}. A lease is moved, never shared: who
 * receives it in a parameter named {@code owned…} closes it on every path. A second close throws.
 */
public final class Lease implements AutoCloseable {
    private final Page page;

    Lease(Page page) {
        this.page = page;
    }

    public Page page() {
        return page;
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
