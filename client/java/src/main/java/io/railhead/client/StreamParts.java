package io.railhead.client;

import java.io.IOException;
import java.io.InputStream;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Stores a stream, up to its end, as parts of an upload. Each thread has memory for one part, and
 * reads the next part when it has stored its last one.
 */
final class StreamParts {
    /**
     * The number of parts before their size doubles, so that 10,000 parts suffice for long streams.
     */
    private static final int PARTS_OF_A_SIZE = 2500;

    private final InputStream in;
    private final MultipartUpload upload;
    private final PartTransport transport;
    private final Progress progress;
    /** By the part's number. Guarded by this object's monitor. */
    private final SortedMap<Integer, String> etags = new TreeMap<>();
    /** Guarded by this object's monitor. */
    private int parts;
    /** Guarded by this object's monitor. */
    private long bytes;
    /** Guarded by this object's monitor. */
    private boolean ended;

    StreamParts(InputStream in, MultipartUpload upload, PartTransport transport,
            Progress progress) {
        this.in = in;
        this.upload = upload;
        this.transport = transport;
        this.progress = progress;
    }

    /** Stores all parts; returns their ETags in order. Blocks. */
    List<String> store(Streams streams) throws IOException {
        streams.all(Collections.nCopies(streams.count(), () -> {
            storeInTurn();
            return true;
        }));
        synchronized (this) {
            return List.copyOf(etags.values());
        }
    }

    synchronized long bytes() {
        return bytes;
    }

    private record Numbered(int number, Content.OfArray content) {}

    private void storeInTurn() throws IOException {
        byte[] memory = new byte[0];
        try {
            for (Numbered part = next(memory); part != null; part = next(memory)) {
                memory = part.content().array();
                String etag = transport.store(new StoreRequest(upload.name(),
                        new StoreRequest.Upload(upload.id(), part.number()), part.content()));
                note(part.number(), etag);
                progress.advance(part.content().bytes());
            }
        } finally {
            // After a failure the other threads must take no more parts.
            end();
        }
    }

    /** Reads the next part's bytes; null at the end. */
    private synchronized @Nullable Numbered next(byte[] memory) throws IOException {
        if (ended) {
            return null;
        }
        int size = Math.toIntExact(upload.partBytes() << (parts / PARTS_OF_A_SIZE));
        byte[] into = memory.length == size ? memory : new byte[size];
        int length = in.readNBytes(into, 0, size);
        ended = length < size;
        if (length == 0) {
            return null;
        }
        if (parts == MultipartUpload.MOST_PARTS) {
            throw new PermanentException("the stream has more than the " + bytes
                    + " bytes that an upload of " + parts + " parts takes here; store a file");
        }
        parts++;
        bytes += length;
        return new Numbered(parts, new Content.OfArray(into, length));
    }

    private synchronized void note(int number, String etag) {
        etags.put(number, etag);
    }

    private synchronized void end() {
        ended = true;
    }
}
