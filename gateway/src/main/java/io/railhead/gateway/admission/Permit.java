package io.railhead.gateway.admission;

/** One admitted request, until its end. Its owner's thread only; the counters are shared. */
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
     * Sets the body's length once it is known. The request itself is not refused any more; later
     * ones may be.
     */
    public void holds(long bytes) {
        long most = admission.held(bytes);
        if (!closed && most > heldBytes) {
            admission.hold(tenantInFlight, most - heldBytes);
            heldBytes = most;
        }
    }

    /** Ends the request's work. Its bytes stay counted until the client has taken them. */
    public void answered() {
        if (!closed && !answered) {
            answered = true;
            admission.leave(tenantInFlight, 0);
        }
    }

    /** Ends the request; a second call changes nothing. */
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
