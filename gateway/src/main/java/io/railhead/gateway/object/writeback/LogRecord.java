package io.railhead.gateway.object.writeback;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The description of one entry of the log. */
sealed interface LogRecord {
    int WRITE = 1;
    int UPLOAD = 2;
    int PART = 3;

    /** The writer of an object, and the headers that it gave. */
    record Head(String principal, String namespace, PendingName name, Map<String, String> headers) {
        public Head {
            headers = Map.copyOf(headers);
        }
    }

    /**
     * An acknowledged object.
     *
     * @param etag in quotes, as the store will have it
     * @param parts the entries that hold the parts, in order; empty if this entry holds the bytes
     */
    record Write(Head head, String etag, long atMillis, List<Long> parts) implements LogRecord {
        public Write {
            parts = List.copyOf(parts);
        }
    }

    /** A multipart upload that has begun. */
    record Upload(Head head, String uploadId, long atMillis) implements LogRecord {}

    /** A part of an upload, whose entry holds the bytes. */
    record Part(String uploadId, int number, String etag, long atMillis) implements LogRecord {}

    default byte[] encoded() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            switch (this) {
                case Write write -> {
                    out.writeByte(WRITE);
                    write(out, write.head);
                    text(out, write.etag);
                    out.writeLong(write.atMillis);
                    out.writeInt(write.parts.size());
                    for (long part : write.parts) {
                        out.writeLong(part);
                    }
                }
                case Upload upload -> {
                    out.writeByte(UPLOAD);
                    write(out, upload.head);
                    text(out, upload.uploadId);
                    out.writeLong(upload.atMillis);
                }
                case Part part -> {
                    out.writeByte(PART);
                    text(out, part.uploadId);
                    out.writeInt(part.number);
                    text(out, part.etag);
                    out.writeLong(part.atMillis);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static void write(DataOutputStream out, Head head) throws IOException {
        text(out, head.principal);
        text(out, head.namespace);
        text(out, head.name.backend());
        text(out, head.name.bucket());
        text(out, head.name.rawKey());
        out.writeInt(head.headers.size());
        for (Map.Entry<String, String> header : new TreeMap<>(head.headers).entrySet()) {
            text(out, header.getKey());
            text(out, header.getValue());
        }
    }

    private static void text(DataOutputStream out, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    /** Throws {@link UncheckedIOException} if the bytes describe nothing. */
    static LogRecord decode(byte[] bytes) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            int kind = in.readByte();
            return switch (kind) {
                case WRITE -> {
                    Head head = head(in);
                    String etag = text(in);
                    long at = in.readLong();
                    List<Long> parts = new ArrayList<>();
                    for (int left = in.readInt(); left > 0; left--) {
                        parts.add(in.readLong());
                    }
                    yield new Write(head, etag, at, parts);
                }
                case UPLOAD -> new Upload(head(in), text(in), in.readLong());
                case PART -> new Part(text(in), in.readInt(), text(in), in.readLong());
                default -> throw new IOException("a record of kind " + kind);
            };
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Head head(DataInputStream in) throws IOException {
        String principal = text(in);
        String namespace = text(in);
        PendingName name = PendingName.of(text(in), text(in), text(in));
        Map<String, String> headers = new TreeMap<>();
        for (int left = in.readInt(); left > 0; left--) {
            headers.put(text(in), text(in));
        }
        return new Head(principal, namespace, name, headers);
    }

    private static String text(DataInputStream in) throws IOException {
        int length = in.readInt();
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length) {
            throw new IOException("a record that is too short");
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
