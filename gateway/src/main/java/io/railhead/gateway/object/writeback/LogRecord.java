package io.railhead.gateway.object.writeback;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/** The descriptions of the log's entries. The first byte is the kind: later versions have more. */
sealed interface LogRecord {
    int PUT = 1;
    int UPLOAD = 2;
    int PART = 3;
    int COMPLETED = 4;
    int STORE_UPLOAD = 5;
    /** Room for what a completion adds, so that no full journal can refuse it. */
    int ROOM_BYTES = 512;

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
     * @param upload the multipart upload whose parts it has; "" for none
     */
    record Write(Head head, String etag, long atMillis, String upload) implements LogRecord {

        /** An object without parts. */
        Write(Head head, String etag, long atMillis) {
            this(head, etag, atMillis, "");
        }

        boolean isMultipart() {
            return !upload.isEmpty();
        }

        @Override
        public void write(DataOutputStream out) throws IOException {
            out.writeByte(isMultipart() ? COMPLETED : PUT);
            writeHead(out, head);
            text(out, etag);
            out.writeLong(atMillis);
            if (isMultipart()) {
                text(out, upload);
            }
        }
    }

    /** A multipart upload that is open. */
    record Upload(Head head, String id, long atMillis) implements LogRecord {

        @Override
        public void write(DataOutputStream out) throws IOException {
            out.writeByte(UPLOAD);
            writeHead(out, head);
            text(out, id);
            out.writeLong(atMillis);
            out.write(new byte[ROOM_BYTES]);
        }
    }

    /**
     * A part, whose bytes are the entry's.
     *
     * @param etag in quotes
     * @param sum by the upload's checksum algorithm, in base64; "" for none
     */
    record Part(String upload, int number, String etag, String sum,
            long atMillis) implements LogRecord {

        @Override
        public void write(DataOutputStream out) throws IOException {
            out.writeByte(PART);
            text(out, upload);
            out.writeInt(number);
            text(out, etag);
            text(out, sum);
            out.writeLong(atMillis);
        }
    }

    /** The store's upload by which a completed one is written. */
    record StoreUpload(String upload, String storeId) implements LogRecord {

        @Override
        public void write(DataOutputStream out) throws IOException {
            out.writeByte(STORE_UPLOAD);
            text(out, upload);
            text(out, storeId);
        }
    }

    void write(DataOutputStream out) throws IOException;

    default byte[] encoded() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            write(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** Throws {@link UncheckedIOException} if the bytes describe nothing. */
    static LogRecord decode(byte[] bytes) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            int kind = in.readByte();
            return switch (kind) {
                case PUT -> new Write(head(in), text(in), in.readLong());
                case UPLOAD -> new Upload(head(in), text(in), in.readLong());
                case PART ->
                    new Part(text(in), in.readInt(), text(in), text(in), in.readLong());
                case COMPLETED -> new Write(head(in), text(in), in.readLong(), text(in));
                case STORE_UPLOAD -> new StoreUpload(text(in), text(in));
                default -> throw new IOException("a record of kind " + kind);
            };
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void writeHead(DataOutputStream out, Head head) throws IOException {
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
