package io.railhead.gateway.admission;

/** One admitted request, until its end. Its owner's thread only; the counters are shared. */
public final class Permit implements AutoCloseable {
    private final Admission admission;
    private final TenantInFlight tenantInFlight;
    private long heldBytes;
    private long chargedBytes;
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

    /**
     * Takes the request and its body out of the tenant's rate, if {@link Admission#tryEnter} gave
     * this permit. Returns whether that was allowed.
     */
    public boolean tryTake(long bytes) {
        return admission.tryTake(tenantInFlight, bytes);
    }

    /**
     * Takes the body out of the tenant's rate.
     *
     * @param bytes all that the request moves, as far as it is known; what was charged before is
     *            not charged again
     */
    public void charge(long bytes) {
        if (bytes > chargedBytes) {
            admission.charge(tenantInFlight, bytes - chargedBytes);
            chargedBytes = bytes;
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
