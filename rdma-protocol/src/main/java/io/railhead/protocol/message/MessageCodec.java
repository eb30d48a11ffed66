package io.railhead.protocol.message;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.railhead.protocol.message.Message.Attach;
import io.railhead.protocol.message.Message.Bounce;
import io.railhead.protocol.message.Message.Bye;
import io.railhead.protocol.message.Message.Cancel;
import io.railhead.protocol.message.Message.Challenge;
import io.railhead.protocol.message.Message.Deregister;
import io.railhead.protocol.message.Message.Deregistered;
import io.railhead.protocol.message.Message.Hello;
import io.railhead.protocol.message.Message.Ping;
import io.railhead.protocol.message.Message.Pong;
import io.railhead.protocol.message.Message.Proof;
import io.railhead.protocol.message.Message.Refused;
import io.railhead.protocol.message.Message.Register;
import io.railhead.protocol.message.Message.Registered;
import io.railhead.protocol.message.Message.SendDescriptor;
import io.railhead.protocol.message.Message.Sync;
import io.railhead.protocol.message.Message.Synced;
import io.railhead.protocol.message.Message.Welcome;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes messages of fixed length, little-endian, behind their {@link MessageHeader}:
 *
 * <pre>
 *   type                 0             8            16           32       36       40          48
 *    1 HELLO         48  |session id (16 bytes)     |client nonce (32 bytes)                   |
 *    2 CHALLENGE     32  |server nonce (32 bytes)                |
 *    3 PROOF         32  |client proof (32 bytes)                |
 *    4 WELCOME       56  |server proof (32 bytes)                |number  |buffers |requests|...
 *                                       ... |max message bytes|keep-alive ms|reserved|
 *    5 REFUSED        4  |reason|
 *    6 REGISTER      24  |base address |length      |rkey  |reserved|
 *    7 SEND_DESCRIPTOR 0
 *    8 REGISTERED     4  |key   |
 *    9 DEREGISTER     4  |key   |
 *   10 DEREGISTERED   4  |key   |
 *   11 PING           8  |value        |
 *   12 PONG           8  |value        |
 *   13 BYE            0
 *   14 ATTACH        24  |base address |length      |proof address|
 *   15 BOUNCE        24  |base address |length      |handle       |
 *   18 CANCEL         8  |request id|reserved|
 *   20 SYNC          32  |id    |to peer|handle     |offset       |length       |
 *   21 SYNCED         8  |id    |copied |
 * </pre>
 */
public final class MessageCodec {
    /** The longest message of fixed length, header included. */
    public static final int MAX_BYTES = 64;
    private static final int ID_BYTES = 16;

    private MessageCodec() {}

    /** Returns the message's bytes, ready to be read. */
    public static ByteBuffer encode(Message message) {
        ByteBuffer out = ByteBuffer.allocate(MAX_BYTES).order(LITTLE_ENDIAN);
        out.position(MessageHeader.BYTES);
        int type = payload(message, out);
        MessageHeader.put(out, 0, type, out.position() - MessageHeader.BYTES);
        return out.flip();
    }

    private static int payload(Message message, ByteBuffer out) {
        return switch (message) {
            case Hello(String id, Bytes32 nonce) ->
                type(1, out.put(HexFormat.of().parseHex(id)).put(nonce.bytes()));
            case Challenge(Bytes32 nonce) -> type(2, out.put(nonce.bytes()));
            case Proof(Bytes32 proof) -> type(3, out.put(proof.bytes()));
            case Welcome(Bytes32 proof, int session, SessionLimits limits) ->
                type(4, put(limits, out.put(proof.bytes()).putInt(session)));
            case Refused(Refusal reason) -> type(5, out.putInt(reason.code()));
            case Register(long base, long length, int remoteKey) ->
                type(6, out.putLong(base).putLong(length).putInt(remoteKey).putInt(0));
            case SendDescriptor() -> 7;
            case Registered(int key) -> type(8, out.putInt(key));
            case Deregister(int key) -> type(9, out.putInt(key));
            case Deregistered(int key) -> type(10, out.putInt(key));
            case Ping(long value) -> type(11, out.putLong(value));
            case Pong(long value) -> type(12, out.putLong(value));
            case Bye() -> 13;
            case Attach(long base, long length, long proof) ->
                type(14, out.putLong(base).putLong(length).putLong(proof));
            case Bounce(long base, long length, long handle) ->
                type(15, out.putLong(base).putLong(length).putLong(handle));
            case Sync(int id, boolean toPeer, long handle, long offset, long length) ->
                type(20, put(toPeer, out.putInt(id)).putLong(handle)
                        .putLong(offset)
                        .putLong(length));
            case Synced(int id, boolean copied) -> type(21, put(copied, out.putInt(id)));
            case Cancel(int id) -> type(MessageHeader.CANCEL, out.putInt(id).putInt(0));
        };
    }

    private static ByteBuffer put(boolean flag, ByteBuffer out) {
        return out.putInt(flag ? 1 : 0);
    }

    private static ByteBuffer put(SessionLimits limits, ByteBuffer out) {
        return out.putInt(limits.maxBuffers())
                .putInt(limits.maxRequests())
                .putInt(limits.maxMessageBytes())
                .putInt(limits.keepAliveMillis())
                .putInt(0);
    }

    /**
     * Returns the type after its payload was written, so that the switch above reads like a table.
     */
    private static int type(int type, ByteBuffer written) {
        assert written.position() > MessageHeader.BYTES;
        return type;
    }

    /**
     * Returns the next message. If it is incomplete, returns null and leaves the buffer's position.
     * A bad header is detected as soon as its eight bytes have come. Requests, answers and ENDED
     * are not in this table.
     */
    public static @Nullable Message decode(ByteBuffer from) throws MessageException {
        if (from.remaining() < MessageHeader.BYTES) {
            return null;
        }
        ByteBuffer in = from.slice().order(LITTLE_ENDIAN);
        int type = MessageHeader.requireType(in, 0);
        int length = MessageHeader.payloadBytes(in, 0);
        in.position(MessageHeader.BYTES);
        if (in.remaining() < length) {
            return null;
        }
        Message message = message(type, in);
        from.position(from.position() + MessageHeader.BYTES + length);
        return message;
    }

    /**
     * Returns the message of this type, whose complete payload begins at {@code payload}; the
     * buffer is little-endian.
     */
    public static Message decode(int type, ByteBuffer bytes, int payload)
            throws MessageException {
        return message(type,
                bytes.duplicate().order(LITTLE_ENDIAN).limit(bytes.capacity()).position(payload));
    }

    private static Message message(int type, ByteBuffer in) throws MessageException {
        return switch (type) {
            case 1 -> new Hello(id(in), Bytes32.next(in));
            case 2 -> new Challenge(Bytes32.next(in));
            case 3 -> new Proof(Bytes32.next(in));
            case 4 -> reserved(in, new Welcome(Bytes32.next(in), in.getInt(), limits(in)));
            case 5 -> new Refused(refusal(in.getInt()));
            case 6 -> reserved(in, new Register(in.getLong(), in.getLong(), in.getInt()));
            case 7 -> new SendDescriptor();
            case 8 -> new Registered(in.getInt());
            case 9 -> new Deregister(in.getInt());
            case 10 -> new Deregistered(in.getInt());
            case 11 -> new Ping(in.getLong());
            case 12 -> new Pong(in.getLong());
            case 13 -> new Bye();
            case 14 -> new Attach(in.getLong(), in.getLong(), in.getLong());
            case 15 -> new Bounce(in.getLong(), in.getLong(), in.getLong());
            case 20 -> new Sync(in.getInt(), flag(in), in.getLong(), in.getLong(), in.getLong());
            case 21 -> new Synced(in.getInt(), flag(in));
            case MessageHeader.CANCEL -> reserved(in, new Cancel(in.getInt()));
            default -> throw new MessageException("type must be one of fixed length: " + type);
        };
    }

    private static SessionLimits limits(ByteBuffer in) {
        return new SessionLimits(in.getInt(), in.getInt(), in.getInt(), in.getInt());
    }

    private static boolean flag(ByteBuffer in) throws MessageException {
        int value = in.getInt();
        if (value != 0 && value != 1) {
            throw new MessageException("a flag must be 0 or 1: " + value);
        }
        return value == 1;
    }

    private static Message reserved(ByteBuffer in, Message before) throws MessageException {
        if (in.getInt() != 0) {
            throw new MessageException("reserved must be 0");
        }
        return before;
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
