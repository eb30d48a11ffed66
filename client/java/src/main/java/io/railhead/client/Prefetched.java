package io.railhead.client;

/**
 * The result of a prefetch in a gateway.
 *
 * @param state {@code filled}, {@code held} already, {@code not_cached} by its rule,
 *            {@code refused} by the store, {@code full} where it would evict something, or
 *            {@code failed}
 * @param bytes that were fetched
 * @param reason of a failure; else empty
 */
public record Prefetched(ObjectName name, String state, long bytes, String reason) {

    /** Whether a read of it is a hit now. */
    public boolean isHeld() {
        return state.equals("filled") || state.equals("held");
    }
}
