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
    private boolean isRestarted; // guarded by this

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

    /** Takes an upload that the log knows from now on. */
    synchronized void begun(String storeId, LogEntry recorded) {
        begun(storeId);
        entry = recorded;
    }

    /** Takes an upload that a restart would not know. */
    synchronized void begun(String storeId) {
        id = storeId;
        isRestarted = false;
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

    /**
     * Has all parts sent again, once for each upload: the store may have lost one. A second time it
     * is the parts that the store does not want.
     */
    synchronized void tryRestart() {
        if (!isRestarted) {
            isRestarted = true;
            done.clear();
        }
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
