package io.railhead.client;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Reads an object as ranges: the first shows its size and version, the others are pinned to that
 * version and run in parallel.
 */
final class ObjectReader {
    private final PartTransport transport;
    private final ObjectHeads heads;
    private final Streams streams;
    private final int partBytes;

    ObjectReader(PartTransport transport, ObjectHeads heads, Streams streams, int partBytes) {
        this.transport = transport;
        this.heads = heads;
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
            first = transport.fetch(new PartRequest(name, 0, partBytes, null),
                    counted);
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
            ObjectInfo info = heads.head(name).info();
            if (info.bytes() == 0) {
                return info;
            }
        }
        throw refusal;
    }

    private void readRest(ObjectName name, Part first, PartSink sink) throws IOException {
        List<Callable<Boolean>> parts = new ArrayList<>();
        for (long offset = first.bytes(); offset < first.total(); offset += partBytes) {
            int bytes = (int) Math.min(partBytes, first.total() - offset);
            PartRequest request = new PartRequest(name, offset, bytes, first.etag());
            parts.add(() -> {
                requireSameSize(transport.fetch(request, sink), first);
                return true;
            });
        }
        streams.all(parts);
    }

    private static void requireSameSize(Part part, Part first) throws IOException {
        if (part.total() != first.total()) {
            throw new PermanentException("the object's size changed while it was read: "
                    + first.total() + " became " + part.total());
        }
    }
}
