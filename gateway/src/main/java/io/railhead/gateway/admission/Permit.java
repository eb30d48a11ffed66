package io.railhead.gateway.admission;

/**
 * One request that was taken on, until it is over. Its owner's thread only, but for what it counts.
 */
public final class Permit implements AutoCloseable {
    private final Admission admission;
    private final TenantInFlight tenantInFlight;
    private long heldBytes;
    private boolean answered;
    private boolean closed;

    Permit(Admission admission, TenantInFlight tenantInFlight, long heldBytes) {
        this.admission = admission;
        this.tenantInFlight = tenantInFlight;
        this.heldBytes = heldBytes;
    }

    /**
     * Its body, in whichever direction, turns out to have so many bytes. It is not refused any
     * more; who comes after it may be.
     */
    public void holds(long bytes) {
        long most = admission.held(bytes);
        if (!closed && most > heldBytes) {
            admission.hold(tenantInFlight, most - heldBytes);
            heldBytes = most;
        }
    }

    /** Nothing is to be done for it any more, but that its peer takes its bytes: those it keeps. */
    public void answered() {
        if (!closed && !answered) {
            answered = true;
            admission.leave(tenantInFlight, 0);
        }
    }

    /** Over; the second time it changes nothing. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (answered) {
            admission.hold(tenantInFlight, -heldBytes);
        } else {
            admission.leave(tenantInFlight, heldBytes);
        }
    }
}
