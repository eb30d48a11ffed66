package io.railhead.gateway.object.writeback;

import io.railhead.cache.writeback.LogEntry;

/** A part of a multipart upload in the log. */
record LogPart(LogRecord.Part record, LogEntry entry) {

    int number() {
        return record.number();
    }

    long sizeBytes() {
        return entry.lengthBytes();
    }

    String etag() {
        return record.etag();
    }

    String sum() {
        return record.sum();
    }
}
