package io.railhead.cache.writeback;

/**
 * The owner of a write on its way into the log.
 *
 * @param name "" for nobody, whose part of the log is not counted
 * @param mostPercent the most that all writes of the owner may take, of the room for bytes and of
 *            that in the journal
 */
public record LogOwner(String name, int mostPercent) {
    public static final LogOwner NOBODY = new LogOwner("", 100);

    public LogOwner {
        if (mostPercent < 1 || mostPercent > 100) {
            throw new IllegalArgumentException("mostPercent must be 1 to 100: " + mostPercent);
        }
    }
}
