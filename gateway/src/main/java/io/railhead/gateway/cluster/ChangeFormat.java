package io.railhead.gateway.cluster;

import io.railhead.cache.Change;
import io.railhead.cache.Selection;
import io.railhead.cache.WriteOutcome;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a change between gateways: a kind, then the fields in their order. A text is its
 * length in bytes, -1 for none, and UTF-8.
 */
final class ChangeFormat {
    private static final int KEY = 1;
    private static final int BUCKET = 2;
    private static final int EVICTION = 3;
    /** Longer than any name that a store takes. */
    private static final int MAX_TEXT_BYTES = 1 << 20;

    private ChangeFormat() {}

    static byte[] bytes(Change change) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        try {
            switch (change) {
                case Change.OfKey key -> {
                    out.writeByte(KEY);
                    write(out, key.backend());
                    write(out, key.bucket());
                    write(out, key.key());
                    write(out, key.versionId());
                    write(out, key.outcome().name());
                }
                case Change.OfBucket bucket -> {
                    out.writeByte(BUCKET);
                    write(out, bucket.backend());
                    write(out, bucket.bucket());
                    write(out, bucket.outcome().name());
                }
                case Change.Eviction(Selection selection) -> {
                    out.writeByte(EVICTION);
                    write(out, selection.bucket());
                    write(out, selection.name());
                    write(out, selection.kind().name());
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static void write(DataOutputStream out, @Nullable String text) throws IOException {
        if (text == null) {
            out.writeInt(-1);
            return;
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    /** @throws IllegalArgumentException for bytes that are no change */
    static Change change(byte[] bytes) {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        try {
            int kind = in.readByte();
            return switch (kind) {
                case KEY -> new Change.OfKey(text(in), text(in), text(in), textOrNull(in),
                        WriteOutcome.valueOf(text(in)));
                case BUCKET -> new Change.OfBucket(text(in), text(in),
                        WriteOutcome.valueOf(text(in)));
                case EVICTION -> new Change.Eviction(new Selection(text(in), text(in),
                        Selection.Kind.valueOf(text(in))));
                default -> throw new IllegalArgumentException("a change of kind " + kind);
            };
        } catch (IOException e) {
            throw new IllegalArgumentException("a change that ends early", e);
        }
    }

    private static String text(DataInputStream in) throws IOException {
        String text = textOrNull(in);
        if (text == null) {
            throw new IllegalArgumentException("a change without a name");
        }
        return text;
    }

    private static @Nullable String textOrNull(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length == -1) {
            return null;
        }
        if (length < 0 || length > MAX_TEXT_BYTES) {
            throw new IllegalArgumentException("a text of " + length + " bytes");
        }
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length) {
            throw new IllegalArgumentException("a text that ends early");
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
