package io.railhead.cache.writeback;

import java.util.List;

/**
 * A change of the log that happens whole or not at all.
 *
 * @param added new entries
 * @param removed numbers of entries that are there
 */
record LogChange(List<LogEntry> added, List<Long> removed) {

    LogChange {
        added = List.copyOf(added);
        removed = List.copyOf(removed);
    }

    int encodedBytes() {
        int bytes = removed.size() * JournalFormat.REMOVE_BYTES;
        for (LogEntry entry : added) {
            bytes += entry.encodedBytes();
        }
        return bytes;
    }

    boolean hasBytes() {
        return added.stream().anyMatch(entry -> entry.lengthBytes() > 0);
    }
}
