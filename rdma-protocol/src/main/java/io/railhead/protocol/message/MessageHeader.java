package io.railhead.protocol.message;

import java.nio.ByteBuffer;

/**
 * The eight bytes before each message's payload, little-endian:
 *
 * <pre>
 *   0         4       5      6        8
 *   |magic u32|version|type  |length  | payload
 *   | "RHLB"  | u8 =1 | u8   | u16    |
 *
 *   type              payload bytes
 *    1 to 15          fixed: see {@link MessageCodec}
 *   16 REQUESTS       request records, each a multiple of 8
 *   17 ANSWERS        answer records, each a multiple of 8
 *   18 CANCEL         8
 *   19 ENDED          8, and answer records
 *   20 and 21         fixed: see {@link MessageCodec}
 * </pre>
 */
public final class MessageHeader {
    public static final int BYTES = 8;
    /** The longest message, header included. */
    public static final int MAX_MESSAGE_BYTES = 4096;

    public static final int REQUESTS = 16;
    public static final int ANSWERS = 17;
    public static final int CANCEL = 18;
    public static final int ENDED = 19;

    static final int MAGIC = 'R' | 'H' << 8 | 'L' << 16 | 'B' << 24;
    static final byte VERSION = 1;
    private static final int TYPE = 5;
    private static final int LENGTH = 6;
    private static final int VARIABLE = -1;
    private static final int UNKNOWN = -2;
    /** The payload's length by type. */
    private static final int[] LENGTHS = {UNKNOWN, 48, 32, 32, 56, 4, 24, 0, 4, 4, 4, 8, 8, 0,
            24, 24, VARIABLE, VARIABLE, 8, VARIABLE, 32, 8};

    private MessageHeader() {}

    /** Writes a header at {@code at}; the buffer is little-endian. */
    public static void put(ByteBuffer out, int at, int type, int payloadBytes) {
        out.putInt(at, MAGIC)
                .put(at + 4, VERSION)
                .put(at + TYPE, (byte) type)
                .putShort(at + LENGTH, (short) payloadBytes);
    }

    /**
     * Checks the complete header at {@code at}; the buffer is little-endian.
     *
     * @return the message's type
     */
    public static int requireType(ByteBuffer in, int at) throws MessageException {
        if (in.getInt(at) != MAGIC) {
            throw new MessageException("magic must be RHLB: 0x" + Integer.toHexString(
                    in.getInt(at)));
        }
        if (in.get(at + 4) != VERSION) {
            throw new MessageException("version must be " + VERSION + ": " + in.get(at + 4));
        }
        int type = in.get(at + TYPE) & 0xff;
        if (type >= LENGTHS.length || LENGTHS[type] == UNKNOWN) {
            throw new MessageException("type must be known: " + type);
        }
        requireLength(type, payloadBytes(in, at));
        return type;
    }

    /**
     * Checks that the bytes up to the buffer's limit are exactly one message.
     *
     * @return the message's type
     */
    public static int requireWhole(ByteBuffer message) throws MessageException {
        int bytes = message.limit();
        if (bytes < BYTES) {
            throw new MessageException("a message must have a header: " + bytes + " bytes");
        }
        int type = requireType(message, 0);
        int claimed = BYTES + payloadBytes(message, 0);
        if (claimed != bytes) {
            throw new MessageException("a message must be as long as its header says, " + claimed
                    + ": " + bytes);
        }
        return type;
    }

    private static void requireLength(int type, int length) throws MessageException {
        if (LENGTHS[type] == VARIABLE) {
            if (length < 8 || length > MAX_MESSAGE_BYTES - BYTES || length % 8 != 0) {
                throw new MessageException("length of type " + type
                        + " must be a multiple of 8 up to " + (MAX_MESSAGE_BYTES - BYTES) + ": "
                        + length);
            }
        } else if (length != LENGTHS[type]) {
            throw new MessageException(
                    "length of type " + type + " must be " + LENGTHS[type] + ": " + length);
        }
    }

    /** Returns the payload's length of the message at {@code at}. */
    public static int payloadBytes(ByteBuffer in, int at) {
        return in.getShort(at + LENGTH) & 0xffff;
    }
}
