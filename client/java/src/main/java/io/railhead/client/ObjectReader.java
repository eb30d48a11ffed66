package io.railhead.client;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads an object as ranges. The first one shows the size and the version; the others are pinned to
 * that version and run in parallel.
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
        return read(name, sink, progress, first -> {});
    }

    /** Continues with the version that was begun if it still exists; otherwise starts again. */
    ObjectInfo resume(ObjectName name, PartialFile partial, Progress progress)
            throws IOException {
        Part begun = partial.begun(name, partBytes);
        if (begun != null && transport.head(name).info().etag().equals(begun.etag())) {
            try {
                return goOn(name, begun, partial, progress);
            } catch (S3Exception e) {
                if (e.status() != 412) {
                    throw e;
                }
            }
        }
        partial.forget();
        return read(name, partial, progress, first -> partial.begin(name, partBytes, first));
    }

    private ObjectInfo goOn(ObjectName name, Part begun, PartialFile partial, Progress progress)
            throws IOException {
        List<PartRequest> missing = new ArrayList<>(parts(name, 0, begun));
        missing.removeIf(part -> partial.has(part.offset()));
        progress.expect(begun.total());
        progress.advance(begun.total()
                - missing.stream().mapToLong(PartRequest::bytes).sum());
        transport.fetchAll(missing, counted(partial, progress), streams);
        return new ObjectInfo(name, begun.total(), begun.etag());
    }

    /** Receives the version once it is known, after the bytes of its first part were taken. */
    private interface Begun {
        void with(Part first) throws IOException;
    }

    private static PartSink counted(PartSink sink, Progress progress) {
        return (offset, bytes) -> {
            int length = bytes.remaining();
            sink.accept(offset, bytes);
            progress.advance(length);
        };
    }

    private ObjectInfo read(ObjectName name, PartSink sink, Progress progress, Begun begun)
            throws IOException {
        PartSink counted = counted(sink, progress);
        Part first;
        try {
            first = transport.fetch(PartRequest.first(name, partBytes), counted);
        } catch (S3Exception e) {
            return emptyOrThrow(name, e);
        }
        begun.with(first);
        progress.expect(first.total());
        transport.fetchAll(parts(name, first.bytes(), first), counted, streams);
        return new ObjectInfo(name, first.total(), first.etag());
    }

    /** An empty object satisfies no range, so its HEAD decides. */
    private ObjectInfo emptyOrThrow(ObjectName name, S3Exception refusal) throws IOException {
        if (refusal.status() == 416) {
            ObjectInfo info = transport.head(name).info();
            if (info.bytes() == 0) {
                return info;
            }
        }
        throw refusal;
    }

    private List<PartRequest> parts(ObjectName name, long from, Part first) {
        List<PartRequest> parts = new ArrayList<>();
        for (long offset = from; offset < first.total(); offset += partBytes) {
            int bytes = (int) Math.min(partBytes, first.total() - offset);
            parts.add(PartRequest.next(name, offset, bytes, first));
        }
        return parts;
    }
}
