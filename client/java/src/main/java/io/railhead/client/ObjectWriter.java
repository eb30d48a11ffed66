package io.railhead.client;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import software.amazon.awssdk.http.SdkHttpMethod;

/** Stores a file: small ones at once, large ones as an upload of parts that is ended or aborted. */
final class ObjectWriter {
    static final long SINGLE_PUT_BYTES = 64L << 20;
    private static final int DOCUMENT_LIMIT = 1 << 20;
    private static final int MOST_PARTS = 10_000;

    private final S3Http http;
    private final PartTransport transport;
    private final Streams streams;
    private final long partBytes;

    ObjectWriter(S3Http http, PartTransport transport, Streams streams, long partBytes) {
        this.http = http;
        this.transport = transport;
        this.streams = streams;
        this.partBytes = partBytes;
    }

    ObjectInfo put(Path file, ObjectName name, Progress progress) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            long bytes = channel.size();
            progress.expect(bytes);
            String etag = bytes <= transport.storeLimit()
                    ? storeWhole(channel, name, bytes, progress)
                    : upload(channel, name, bytes, progress);
            return new ObjectInfo(name, bytes, etag);
        }
    }

    private String storeWhole(FileChannel file, ObjectName name, long bytes, Progress progress)
            throws IOException {
        String etag = transport.store(new StoreRequest(name, null, file, 0, bytes));
        progress.advance(bytes);
        return etag;
    }

    private String upload(FileChannel file, ObjectName name, long bytes, Progress progress)
            throws IOException {
        Call begin = Call.to(SdkHttpMethod.POST, name).query("uploads", "").body(Call.Body.EMPTY);
        String id;
        try (HttpAnswer answer = http.require(begin)) {
            id = S3Documents.parse(answer.readDocument(DOCUMENT_LIMIT), "").require("UploadId");
        }
        try {
            return complete(name, id, streams.all(parts(file, name, id, bytes, progress)));
        } catch (IOException | RuntimeException | Error e) {
            abort(name, id, e);
            throw e;
        }
    }

    private List<Callable<String>> parts(FileChannel file, ObjectName name, String id, long bytes,
            Progress progress) throws IOException {
        long size = Math.min(partBytes, transport.storeLimit());
        while ((bytes + size - 1) / size > MOST_PARTS) {
            size *= 2;
        }
        List<Callable<String>> parts = new ArrayList<>();
        for (long offset = 0; offset < bytes; offset += size) {
            StoreRequest part = new StoreRequest(name,
                    new StoreRequest.Upload(id, parts.size() + 1), file, offset,
                    Math.min(size, bytes - offset));
            parts.add(() -> {
                String etag = transport.store(part);
                progress.advance(part.bytes());
                return etag;
            });
        }
        return parts;
    }

    private String complete(ObjectName name, String id, List<String> etags) throws IOException {
        StringBuilder xml = new StringBuilder("<CompleteMultipartUpload>");
        for (int i = 0; i < etags.size(); i++) {
            xml.append("<Part><PartNumber>")
                    .append(i + 1)
                    .append("</PartNumber><ETag>")
                    .append(etags.get(i).replace("&", "&amp;").replace("<", "&lt;"))
                    .append("</ETag></Part>");
        }
        xml.append("</CompleteMultipartUpload>");
        Call call = Call.to(SdkHttpMethod.POST, name)
                .query("uploadId", id)
                .header("Content-Type", "application/xml")
                .body(Call.Body.of(xml.toString().getBytes(StandardCharsets.UTF_8)));
        try (HttpAnswer answer = http.require(call)) {
            var document = S3Documents.parse(answer.readDocument(DOCUMENT_LIMIT), "");
            // The status was sent before the outcome was known: 200 may carry an error.
            if (document.root().equals("Error")) {
                Map<String, String> fields = document.fields();
                throw new S3Exception(500, fields.getOrDefault("Code", "InternalError"),
                        fields.getOrDefault("Message", ""));
            }
            return document.require("ETag");
        }
    }

    private void abort(ObjectName name, String id, Throwable cause) {
        try {
            http.document(Call.to(SdkHttpMethod.DELETE, name).query("uploadId", id),
                    DOCUMENT_LIMIT);
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }
}
