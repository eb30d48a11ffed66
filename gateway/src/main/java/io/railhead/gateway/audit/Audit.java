package io.railhead.gateway.audit;

/** The audit stream, as the parts that cause events see it. Any thread; never blocks. */
public interface Audit {

    /** A stream that keeps nothing. */
    Audit OFF = new Audit() {
        @Override
        public boolean isOn() {
            return false;
        }

        @Override
        public void record(AuditEvent event) {
            // No stream is configured.
        }
    };

    /** Returns whether events are kept, so that a hot path builds none in vain. */
    boolean isOn();

    /** Puts the event into the stream. If there is no room, the event is lost and counted. */
    void record(AuditEvent event);
}
