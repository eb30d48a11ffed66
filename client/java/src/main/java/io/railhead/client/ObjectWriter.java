package io.railhead.client;

import io.railhead.client.UploadJournal.Begun;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * Stores files and streams: small ones by one request, large ones by a multipart upload that is
 * completed or aborted.
 */
final class ObjectWriter {
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

    /** A file that is being stored. */
    private record Sending(Path file, FileChannel channel, ObjectName name, long bytes,
            Progress progress) {}

    ObjectInfo put(Path file, ObjectName name, Progress progress) throws IOException {
        try (FileChannel channel = open(file)) {
            if (!hasSize(file, channel)) {
                return put(Channels.newInputStream(channel), name, progress);
            }
            long bytes = channel.size();
            progress.expect(bytes);
            Sending sending = new Sending(file, channel, name, bytes, progress);
            String etag = isSmall(bytes) ? storeWhole(sending) : upload(sending);
            return new ObjectInfo(name, bytes, etag);
        }
    }

    private static FileChannel open(Path file) throws IOException {
        if (Files.isDirectory(file)) {
            throw new IOException(file + " is a directory");
        }
        return FileChannel.open(file);
    }

    /**
     * Returns whether the file's reported size is true. Files of {@code /proc} report 0 and files
     * of {@code /sys} a whole page, so the last byte is read.
     */
    private static boolean hasSize(Path file, FileChannel channel) throws IOException {
        return Files.isRegularFile(file) && channel.size() > 0
                && channel.read(ByteBuffer.allocate(1), channel.size() - 1) == 1;
    }

    /** Stores a stream up to its end; a stream that fits into one part is stored by one request. */
    ObjectInfo put(InputStream content, ObjectName name, Progress progress) throws IOException {
        int size = Math.toIntExact(Math.min(partBytes, transport.storeLimit()));
        byte[] first = content.readNBytes(size);
        if (first.length < size) {
            String etag = transport.store(new StoreRequest(name, null,
                    new Content.OfArray(first, first.length)));
            progress.advance(first.length);
            return new ObjectInfo(name, first.length, etag);
        }
        try (Unfinished<MultipartUpload> begun = beginAborted(() -> uploads.begin(name, size))) {
            StreamParts parts = new StreamParts(
                    new SequenceInputStream(new ByteArrayInputStream(first), content),
                    begun.value(), transport, progress);
            String etag = completeOrAbort(begun.value(), () -> parts.store(streams));
            return new ObjectInfo(name, parts.bytes(), etag);
        }
    }

    /** Continues the upload that was begun of this file, if the store still has it. */
    ObjectInfo resume(Path file, ObjectName name, Progress progress) throws IOException {
        if (Files.exists(file) && !Files.isDirectory(file) && !Files.isRegularFile(file)) {
            throw new IOException(file + " is no regular file: it is stored without --resume");
        }
        try (FileChannel channel = open(file);
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
        String etag = transport.store(new StoreRequest(sending.name(), null,
                new Content.OfFile(sending.channel(), 0, sending.bytes())));
        sending.progress().advance(sending.bytes());
        return etag;
    }

    private String upload(Sending sending) throws IOException {
        try (Unfinished<MultipartUpload> begun = beginAborted(() -> begin(sending))) {
            MultipartUpload upload = begun.value();
            return completeOrAbort(upload, () -> streams.all(parts(sending, upload, Map.of())));
        }
    }

    /** Begins an upload that is aborted at the process's end, since it could not be continued. */
    private Unfinished<MultipartUpload> beginAborted(Unfinished.Begin<MultipartUpload> begin)
            throws IOException {
        return Unfinished.begin(begin, uploads::abort);
    }

    /** Stores the parts of an upload, and returns their ETags in order. */
    private interface Storing {
        List<String> run() throws IOException;
    }

    private String completeOrAbort(MultipartUpload upload, Storing parts) throws IOException {
        try {
            return uploads.complete(upload, parts.run());
        } catch (OutcomeUnknownException e) {
            // The upload may have been completed, or may still be.
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

    /** Returns the parts to send: those that the store does not have. */
    private List<Callable<String>> parts(Sending sending, MultipartUpload upload,
            Map<Integer, UploadedPart> stored) {
        List<Callable<String>> parts = new ArrayList<>();
        for (long offset = 0; offset < sending.bytes(); offset += upload.partBytes()) {
            int number = parts.size() + 1;
            Content.OfFile part = new Content.OfFile(sending.channel(), offset,
                    Math.min(upload.partBytes(), sending.bytes() - offset));
            UploadedPart there = stored.get(number);
            parts.add(() -> {
                String etag = there != null && there.holds(part)
                        ? there.etag()
                        : transport.store(new StoreRequest(sending.name(),
                                new StoreRequest.Upload(upload.id(), number), part));
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
