package io.railhead.cluster;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.TreeMap;

/**
 * Messages between members. Each frame opens with the format's version and its kind:
 *
 * <pre>
 *   +---------+------+---------------------------------------+
 *   | version | kind | fields, by java.io.DataOutput         |
 *   +---------+------+---------------------------------------+
 *     1 byte    1
 * </pre>
 */
sealed interface Frame {
    byte VERSION = 1;
    int MAX_FACTS = 1000;

    /**
     * A numbered change, cast to all.
     *
     * @param view of the sender, in which its first change has the number 1
     */
    @SuppressWarnings("ArrayRecordComponent") // Compared with nothing; its holders do not write.
    record Change(String view, long number, byte[] payload) implements Frame {}

    /** The acknowledgement of a change, sent once it is applied. */
    record Applied(String view, long number) implements Frame {}

    /** The question for a lease. The time is the asker's own, and comes back to it. */
    record Question(String view, long askedAtNanos) implements Frame {}

    /**
     * The lease.
     *
     * @param last the number of the answering member's last change in that view
     */
    record Answer(String view, long askedAtNanos, long last) implements Frame {}

    /** The settings of a member that others compare, by key. */
    record Introduction(Map<String, String> facts) implements Frame {
        public Introduction {
            facts = Map.copyOf(facts);
        }
    }

    /** The last word of a member that serves nobody any more. */
    record Farewell() implements Frame {}

    default byte[] bytes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        try {
            out.writeByte(VERSION);
            write(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private void write(DataOutputStream out) throws IOException {
        switch (this) {
            case Change(String view, long number, byte[] payload) -> {
                out.writeByte(1);
                out.writeUTF(view);
                out.writeLong(number);
                out.writeInt(payload.length);
                out.write(payload);
            }
            case Applied(String view, long number) -> {
                out.writeByte(2);
                out.writeUTF(view);
                out.writeLong(number);
            }
            case Question(String view, long askedAtNanos) -> {
                out.writeByte(3);
                out.writeUTF(view);
                out.writeLong(askedAtNanos);
            }
            case Answer(String view, long askedAtNanos, long last) -> {
                out.writeByte(4);
                out.writeUTF(view);
                out.writeLong(askedAtNanos);
                out.writeLong(last);
            }
            case Introduction(Map<String, String> facts) -> {
                out.writeByte(5);
                out.writeInt(facts.size());
                for (Map.Entry<String, String> fact : new TreeMap<>(facts).entrySet()) {
                    out.writeUTF(fact.getKey());
                    out.writeUTF(fact.getValue());
                }
            }
            case Farewell() -> out.writeByte(6);
        }
    }

    /** @throws IllegalArgumentException for bytes that are no frame of this version */
    static Frame of(byte[] frame) {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(frame));
        try {
            int version = in.readByte();
            if (version != VERSION) {
                throw new IllegalArgumentException("a frame of version " + version);
            }
            return read(in);
        } catch (IOException e) {
            throw new IllegalArgumentException("a frame that ends early", e);
        }
    }

    private static Frame read(DataInputStream in) throws IOException {
        int kind = in.readByte();
        return switch (kind) {
            case 1 -> {
                String view = in.readUTF();
                long number = in.readLong();
                int length = in.readInt();
                byte[] payload = in.readNBytes(Math.max(0, length));
                if (payload.length != length) {
                    throw new IllegalArgumentException("a change that ends early");
                }
                yield new Change(view, number, payload);
            }
            case 2 -> new Applied(in.readUTF(), in.readLong());
            case 3 -> new Question(in.readUTF(), in.readLong());
            case 4 -> new Answer(in.readUTF(), in.readLong(), in.readLong());
            case 5 -> new Introduction(facts(in));
            case 6 -> new Farewell();
            default -> throw new IllegalArgumentException("a frame of kind " + kind);
        };
    }

    private static Map<String, String> facts(DataInputStream in) throws IOException {
        int count = in.readInt();
        if (count < 0 || count > MAX_FACTS) {
            throw new IllegalArgumentException("an introduction of " + count + " facts");
        }
        Map<String, String> facts = new TreeMap<>();
        for (int i = 0; i < count; i++) {
            facts.put(in.readUTF(), in.readUTF());
        }
        return facts;
    }
}
