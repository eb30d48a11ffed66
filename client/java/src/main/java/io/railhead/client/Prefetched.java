package io.railhead.client;

/**
 * The result of a prefetch in a gateway.
 *
 * @param state {@code filled}, {@code held} already, {@code not_cached} by its rule,
 *            {@code refused} by the store, {@code full} if it would evict other pages, or
 *            {@code failed}
 * @param bytes the fetched bytes
 * @param reason the reason of a failure; else empty
 */
public record Prefetched(ObjectName name, String state, long bytes, String reason) {

    /** Returns whether a read of the object would be a hit now. */
    public boolean isHeld() {
        return state.equals("filled") || state.equals("held");
    }
}
