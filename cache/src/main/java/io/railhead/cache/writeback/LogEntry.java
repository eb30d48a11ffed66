package io.railhead.cache.writeback;

/**
 * A write that a power cut does not lose: some bytes, and the description that its owner gave.
 * Descriptions mean nothing to the log. Immutable but for its readers, which the log guards.
 */
public final class LogEntry {
    private final long id;
    private final byte[] description;
    final StoredBytes bytes;
    /** Readers and, until it is removed, the log itself; guarded by the log. */
    int users = 1;
    /** Guarded by the log. */
    boolean removed;
    /** Guarded by the log; "" for nobody. */
    String owner = "";

    LogEntry(long id, byte[] description, StoredBytes bytes) {
        this.id = id;
        this.description = description;
        this.bytes = bytes;
    }

    /** Returns the number in the order of commits; never used twice. */
    public long id() {
        return id;
    }

    /** Returns a copy. */
    public byte[] description() {
        return description.clone();
    }

    public long lengthBytes() {
        return bytes.length();
    }

    int encodedBytes() {
        return JournalFormat.putBytes(description.length, bytes.extents().size(),
                bytes.sums().size());
    }

    byte[] rawDescription() {
        return description;
    }
}
