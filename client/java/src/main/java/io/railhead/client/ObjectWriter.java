package io.railhead.client;

import io.railhead.client.UploadJournal.Begun;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** Stores a file: small ones at once, large ones as an upload of parts that is ended or aborted. */
final class ObjectWriter {
    static final long SINGLE_PUT_BYTES = 64L << 20;

    private final S3Http http;
    private final Uploads uploads;
    private final PartTransport transport;
    private final Streams streams;
    private final long partBytes;

    ObjectWriter(S3Http http, PartTransport transport, Streams streams, long partBytes) {
        this.http = http;
        this.uploads = new Uploads(http);
        this.transport = transport;
        this.streams = streams;
        this.partBytes = partBytes;
    }

    /** A file on its way to an object. */
    private record Sending(Path file, FileChannel channel, ObjectName name, long bytes,
            Progress progress) {}

    ObjectInfo put(Path file, ObjectName name, Progress progress) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            long bytes = channel.size();
            progress.expect(bytes);
            Sending sending = new Sending(file, channel, name, bytes, progress);
            String etag = isSmall(bytes) ? storeWhole(sending) : upload(sending);
            return new ObjectInfo(name, bytes, etag);
        }
    }

    /** Goes on with the upload that was begun of this file, if the store still has it. */
    ObjectInfo resume(Path file, ObjectName name, Progress progress) throws IOException {
        try (FileChannel channel = FileChannel.open(file);
                UploadJournal journal = UploadJournal.open(file, http.endpoint(), name)) {
            try {
                FileVersion version = FileVersion.of(file);
                progress.expect(version.bytes());
                String etag = resume(
                        new Sending(file, channel, name, version.bytes(), progress), version,
                        journal);
                return new ObjectInfo(name, version.bytes(), etag);
            } catch (IOException e) {
                throw journal.isEmpty() ? e : new UnfinishedUploadException(e);
            }
        }
    }

    private String resume(Sending sending, FileVersion version, UploadJournal journal)
            throws IOException {
        Begun begun = journal.begun();
        if (begun != null && begun.file().equals(version)) {
            var stored = uploads.findParts(begun.upload());
            if (stored.isPresent()) {
                return finish(sending, begun, stored.get(), journal);
            }
        } else if (begun != null) {
            uploads.abort(begun.upload());
        }
        journal.forget();
        if (isSmall(version.bytes())) {
            return storeWhole(sending);
        }
        Begun anew = new Begun(begin(sending), version);
        journal.begin(anew);
        return finish(sending, anew, Map.of(), journal);
    }

    private String finish(Sending sending, Begun begun, Map<Integer, UploadedPart> stored,
            UploadJournal journal) throws IOException {
        List<String> etags = streams.all(parts(sending, begun.upload(), stored));
        if (!FileVersion.of(sending.file()).equals(begun.file())) {
            uploads.abort(begun.upload());
            journal.forget();
            throw new PermanentException(sending.file() + " changed while it was stored");
        }
        String etag = uploads.complete(begun.upload(), etags);
        journal.forget();
        return etag;
    }

    private boolean isSmall(long bytes) throws IOException {
        return bytes <= transport.storeLimit();
    }

    private String storeWhole(Sending sending) throws IOException {
        String etag = transport.store(new StoreRequest(sending.name(), null, sending.channel(), 0,
                sending.bytes()));
        sending.progress().advance(sending.bytes());
        return etag;
    }

    private String upload(Sending sending) throws IOException {
        MultipartUpload upload = begin(sending);
        try {
            return uploads.complete(upload, streams.all(parts(sending, upload, Map.of())));
        } catch (OutcomeUnknownException e) {
            // It may be the object by now, or become it.
            throw e;
        } catch (IOException | RuntimeException | Error e) {
            abort(upload, e);
            throw e;
        }
    }

    private MultipartUpload begin(Sending sending) throws IOException {
        long size = Math.min(partBytes, transport.storeLimit());
        while (Math.ceilDiv(sending.bytes(), size) > MultipartUpload.MOST_PARTS) {
            size *= 2;
        }
        return uploads.begin(sending.name(), size);
    }

    /** What the store has of the file is not sent again. */
    private List<Callable<String>> parts(Sending sending, MultipartUpload upload,
            Map<Integer, UploadedPart> stored) {
        List<Callable<String>> parts = new ArrayList<>();
        for (long offset = 0; offset < sending.bytes(); offset += upload.partBytes()) {
            int number = parts.size() + 1;
            StoreRequest part = new StoreRequest(sending.name(),
                    new StoreRequest.Upload(upload.id(), number), sending.channel(), offset,
                    Math.min(upload.partBytes(), sending.bytes() - offset));
            UploadedPart there = stored.get(number);
            parts.add(() -> {
                String etag = there != null && there.holds(part)
                        ? there.etag()
                        : transport.store(part);
                sending.progress().advance(part.bytes());
                return etag;
            });
        }
        return parts;
    }

    private void abort(MultipartUpload upload, Throwable cause) {
        try {
            uploads.abort(upload);
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }
}
