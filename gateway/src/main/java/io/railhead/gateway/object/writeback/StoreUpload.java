package io.railhead.gateway.object.writeback;

import io.railhead.cache.writeback.LogEntry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The upload by which a multipart object is written to the store, over all its tries. The log knows
 * it, so that a restart goes on with it. Any thread.
 */
final class StoreUpload {
    /** The ETags of parts that the store has; guarded by this. */
    private final Map<Integer, String> done = new HashMap<>();
    private @Nullable String id; // guarded by this
    private @Nullable LogEntry entry; // guarded by this

    /** Begins without an upload at the store. */
    StoreUpload() {}

    /** Takes up one of before a restart: which parts it has is not known. */
    StoreUpload(String id, LogEntry entry) {
        this.id = id;
        this.entry = entry;
    }

    synchronized @Nullable String id() {
        return id;
    }

    synchronized void begun(String storeId, @Nullable LogEntry recorded) {
        id = storeId;
        entry = recorded;
        done.clear();
    }

    /** Returns whether the store has a part. */
    synchronized boolean has(int number) {
        return done.containsKey(number);
    }

    synchronized void add(int number, String etag) {
        done.put(number, etag);
    }

    /** Returns the ETag that the store gave to each part. */
    synchronized Map<Integer, String> etags() {
        return Map.copyOf(done);
    }

    /** Has all parts sent again: the store has lost one. */
    synchronized void restart() {
        done.clear();
    }

    /** Has the next try begin another upload: the store does not know this one any more. */
    synchronized void forget() {
        id = null;
        done.clear();
    }

    /** Returns the log's entry of it; none if there is none. */
    synchronized List<LogEntry> entries() {
        return entry == null ? List.of() : List.of(entry);
    }
}
