package io.railhead.gateway.admission;

/**
 * One request that was taken on, until it is over. Its owner's thread only, but for what it counts.
 */
public final class Ticket implements AutoCloseable {
    private final Admission admission;
    private final Share share;
    private long heldBytes;
    private boolean closed;

    Ticket(Admission admission, Share share, long heldBytes) {
        this.admission = admission;
        this.share = share;
        this.heldBytes = heldBytes;
    }

    /**
     * Its body, in whichever direction, turns out to have so many bytes. It is not refused any
     * more; who comes after it may be.
     */
    public void holds(long bytes) {
        long most = admission.held(bytes);
        if (!closed && most > heldBytes) {
            admission.hold(share, most - heldBytes);
            heldBytes = most;
        }
    }

    /** Over; the second time it changes nothing. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            admission.leave(share, heldBytes);
        }
    }
}
