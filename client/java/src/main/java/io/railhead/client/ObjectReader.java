package io.railhead.client;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads an object as ranges: the first shows its size and version, the others are pinned to that
 * version and run in parallel.
 */
final class ObjectReader {
    private final PartTransport transport;
    private final Streams streams;
    private final int partBytes;

    ObjectReader(PartTransport transport, Streams streams, int partBytes) {
        this.transport = transport;
        this.streams = streams;
        this.partBytes = partBytes;
    }

    ObjectInfo read(ObjectName name, PartSink sink, Progress progress) throws IOException {
        PartSink counted = (offset, bytes) -> {
            int length = bytes.remaining();
            sink.accept(offset, bytes);
            progress.advance(length);
        };
        Part first;
        try {
            first = transport.fetch(PartRequest.first(name, partBytes), counted);
        } catch (S3Exception e) {
            return emptyOrThrow(name, e);
        }
        progress.expect(first.total());
        readRest(name, first, counted);
        return new ObjectInfo(name, first.total(), first.etag());
    }

    /** No range of an empty object can be satisfied. */
    private ObjectInfo emptyOrThrow(ObjectName name, S3Exception refusal) throws IOException {
        if (refusal.status() == 416) {
            ObjectInfo info = transport.head(name).info();
            if (info.bytes() == 0) {
                return info;
            }
        }
        throw refusal;
    }

    private void readRest(ObjectName name, Part first, PartSink sink) throws IOException {
        List<PartRequest> parts = new ArrayList<>();
        for (long offset = first.bytes(); offset < first.total(); offset += partBytes) {
            int bytes = (int) Math.min(partBytes, first.total() - offset);
            parts.add(PartRequest.next(name, offset, bytes, first));
        }
        transport.fetchAll(parts, sink, streams);
    }
}
