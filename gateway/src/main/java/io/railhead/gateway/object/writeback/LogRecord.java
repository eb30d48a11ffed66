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

/** The descriptions of the log's entries. */
final class LogRecord {
    /** Opens each description, so that later versions may have others. */
    private static final int WRITE = 1;

    private LogRecord() {}

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
     */
    record Write(Head head, String etag, long atMillis) {

        byte[] encoded() {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (DataOutputStream out = new DataOutputStream(bytes)) {
                out.writeByte(WRITE);
                write(out, head);
                text(out, etag);
                out.writeLong(atMillis);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return bytes.toByteArray();
        }
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
    static Write decode(byte[] bytes) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            int kind = in.readByte();
            if (kind != WRITE) {
                throw new IOException("a record of kind " + kind);
            }
            return new Write(head(in), text(in), in.readLong());
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
