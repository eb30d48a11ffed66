package io.railhead.rdma.session;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.railhead.rdma.session.Message.Bye;
import io.railhead.rdma.session.Message.Challenge;
import io.railhead.rdma.session.Message.Deregister;
import io.railhead.rdma.session.Message.Deregistered;
import io.railhead.rdma.session.Message.Hello;
import io.railhead.rdma.session.Message.Ping;
import io.railhead.rdma.session.Message.Pong;
import io.railhead.rdma.session.Message.Proof;
import io.railhead.rdma.session.Message.Refused;
import io.railhead.rdma.session.Message.Register;
import io.railhead.rdma.session.Message.Registered;
import io.railhead.rdma.session.Message.SendDescriptor;
import io.railhead.rdma.session.Message.Welcome;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Messages as bytes, little-endian. Each has an 8-byte header and a payload whose length its type
 * fixes:
 *
 * <pre>
 *   0         4       5      6        8
 *   |magic u32|version|type  |length  | payload
 *   | "RHLB"  | u8 =1 | u8   | u16    |
 *
 *   type                 0             8            16           32       36       40          48
 *    1 HELLO         48  |session id (16 bytes)     |client nonce (32 bytes)                   |
 *    2 CHALLENGE     32  |server nonce (32 bytes)                |
 *    3 PROOF         32  |client proof (32 bytes)                |
 *    4 WELCOME       40  |server proof (32 bytes)                |number  |buffers |
 *    5 REFUSED        4  |reason|
 *    6 REGISTER      16  |base address |length      |
 *    7 SEND_DESCRIPTOR 0
 *    8 REGISTERED     4  |key   |
 *    9 DEREGISTER     4  |key   |
 *   10 DEREGISTERED   4  |key   |
 *   11 PING           8  |value        |
 *   12 PONG           8  |value        |
 *   13 BYE            0
 * </pre>
 */
public final class MessageCodec {
    /** No message is longer, header included. */
    public static final int MAX_BYTES = 56;
    static final int HEADER_BYTES = 8;
    static final int MAGIC = 'R' | 'H' << 8 | 'L' << 16 | 'B' << 24;
    static final byte VERSION = 1;
    private static final int ID_BYTES = 16;
    /** Payload bytes by type; there is no type 0. */
    private static final int[] LENGTHS = {-1, 48, 32, 32, 40, 4, 16, 0, 4, 4, 4, 8, 8, 0};

    private MessageCodec() {}

    /** The message's bytes, ready to be read. */
    public static ByteBuffer encode(Message message) {
        ByteBuffer out = ByteBuffer.allocate(MAX_BYTES).order(LITTLE_ENDIAN);
        out.position(HEADER_BYTES);
        int type = payload(message, out);
        int length = out.position() - HEADER_BYTES;
        out.putInt(0, MAGIC).put(4, VERSION).put(5, (byte) type).putShort(6, (short) length);
        return out.flip();
    }

    private static int payload(Message message, ByteBuffer out) {
        return switch (message) {
            case Hello(String id, Octets nonce) -> {
                out.put(HexFormat.of().parseHex(id)).put(nonce.bytes());
                yield 1;
            }
            case Challenge(Octets nonce) -> type(2, out.put(nonce.bytes()));
            case Proof(Octets proof) -> type(3, out.put(proof.bytes()));
            case Welcome(Octets proof, int session, int maxBuffers) ->
                type(4, out.put(proof.bytes()).putInt(session).putInt(maxBuffers));
            case Refused(Refusal reason) -> type(5, out.putInt(reason.code()));
            case Register(long base, long length) -> type(6, out.putLong(base).putLong(length));
            case SendDescriptor() -> 7;
            case Registered(int key) -> type(8, out.putInt(key));
            case Deregister(int key) -> type(9, out.putInt(key));
            case Deregistered(int key) -> type(10, out.putInt(key));
            case Ping(long value) -> type(11, out.putLong(value));
            case Pong(long value) -> type(12, out.putLong(value));
            case Bye() -> 13;
        };
    }

    private static int type(int type, ByteBuffer written) {
        assert written.position() == HEADER_BYTES + LENGTHS[type];
        return type;
    }

    /**
     * The next message, or null if it is not all there yet: then the buffer's position stays. A bad
     * header is found as soon as its eight bytes are there.
     */
    public static @Nullable Message decode(ByteBuffer from) throws MessageException {
        if (from.remaining() < HEADER_BYTES) {
            return null;
        }
        ByteBuffer in = from.slice().order(LITTLE_ENDIAN);
        int type = requireHeader(in.getInt(), in.get(), in.get(), in.getShort());
        if (in.remaining() < LENGTHS[type]) {
            return null;
        }
        Message message = message(type, in);
        from.position(from.position() + HEADER_BYTES + LENGTHS[type]);
        return message;
    }

    private static int requireHeader(int magic, byte version, byte type, short length)
            throws MessageException {
        if (magic != MAGIC) {
            throw new MessageException("magic must be RHLB: 0x" + Integer.toHexString(magic));
        }
        if (version != VERSION) {
            throw new MessageException("version must be " + VERSION + ": " + version);
        }
        if (type < 1 || type >= LENGTHS.length) {
            throw new MessageException("type must be known: " + type);
        }
        if (length != LENGTHS[type]) {
            throw new MessageException(
                    "length of type " + type + " must be " + LENGTHS[type] + ": " + length);
        }
        return type;
    }

    private static Message message(int type, ByteBuffer in) throws MessageException {
        return switch (type) {
            case 1 -> new Hello(id(in), Octets.next(in));
            case 2 -> new Challenge(Octets.next(in));
            case 3 -> new Proof(Octets.next(in));
            case 4 -> new Welcome(Octets.next(in), in.getInt(), in.getInt());
            case 5 -> new Refused(refusal(in.getInt()));
            case 6 -> new Register(in.getLong(), in.getLong());
            case 7 -> new SendDescriptor();
            case 8 -> new Registered(in.getInt());
            case 9 -> new Deregister(in.getInt());
            case 10 -> new Deregistered(in.getInt());
            case 11 -> new Ping(in.getLong());
            case 12 -> new Pong(in.getLong());
            case 13 -> new Bye();
            default -> throw new MessageException("type must be known: " + type);
        };
    }

    private static String id(ByteBuffer in) {
        byte[] id = new byte[ID_BYTES];
        in.get(id);
        return HexFormat.of().formatHex(id);
    }

    private static Refusal refusal(int code) throws MessageException {
        Refusal refusal = Refusal.findByCode(code);
        if (refusal == null) {
            throw new MessageException("reason must be known: " + code);
        }
        return refusal;
    }
}
