package io.railhead.gateway.object.writeback;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.FixedBody;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.cache.writeback.LogUpload;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;

/** One PutObject that is acknowledged at the disk. */
record DiskPut(WriteBack writeBack, LogRecord.Head head, Payload payload, LogUpload ownedUpload) {

    CompletionStage<BackendResponse> start() {
        return DiskBody.take(payload, ownedUpload, this::commit);
    }

    private CompletionStage<BackendResponse> commit(DiskBody.Received received) {
        Map<String, String> headers = new TreeMap<>(head.headers());
        headers.putAll(received.trailers());
        LogRecord.Head whole = new LogRecord.Head(head.principal(), head.namespace(), head.name(),
                headers);
        try (LogUpload upload = received.upload()) {
            return writeBack.acknowledge(whole, received.etag(), upload)
                    .thenApply(_ -> stored(received.etag(), headers));
        }
    }

    /** Returns the answer for an object or a part, with those of its headers that are checksums. */
    static BackendResponse stored(String etag, Map<String, String> kept) {
        Headers.Builder headers = Headers.builder()
                .add("etag", etag)
                .add("content-length", "0")
                .add(PutHeaders.ACKNOWLEDGED, "disk");
        kept.forEach((name, value) -> {
            if (PutHeaders.isSum(name)) {
                headers.add(name, value);
            }
        });
        return new BackendResponse(200, headers.build(), FixedBody.EMPTY);
    }
}
