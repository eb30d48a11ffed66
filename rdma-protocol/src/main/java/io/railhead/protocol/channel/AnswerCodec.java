package io.railhead.protocol.channel;

import io.railhead.protocol.message.MessageException;
import io.railhead.protocol.message.MessageHeader;
import java.nio.ByteBuffer;

/**
 * Encodes and decodes answers, little-endian:
 *
 * <pre>
 *    0      2       4          8           16          24         32            40
 *    |bytes |status |request id|bytes moved|object size|first byte|Last-Modified|
 *
 *   40    42       44    46       48       50     51     52        56
 *    |ETag|version |code |message |headers |cache |flags |reserved | the texts, in this order, padded
 *          (bytes of each)                                           together to a multiple of 8
 * </pre>
 */
public final class AnswerCodec {
    /** Marks that texts were left out because they did not fit. */
    static final int FLAG_CUT = 1;
    static final int FIXED_BYTES = 56;
    private static final int RECORD_BYTES = 0;
    private static final int STATUS = 2;
    private static final int ID = 4;
    private static final int BYTES_MOVED = 8;
    private static final int OBJECT_SIZE = 16;
    private static final int FIRST_BYTE = 24;
    private static final int LAST_MODIFIED = 32;
    private static final int ETAG_BYTES = 40;
    private static final int VERSION_ID_BYTES = 42;
    private static final int CODE_BYTES = 44;
    private static final int MESSAGE_BYTES = 46;
    private static final int HEADERS_BYTES = 48;
    private static final int CACHE = 50;
    private static final int FLAGS = 51;
    private static final int RESERVED = 52;
    /** The longest record, which fits alone into ANSWERS and into ENDED. */
    private static final int MAX_RECORD_BYTES = MessageHeader.MAX_MESSAGE_BYTES
            - MessageHeader.BYTES - 8;

    private AnswerCodec() {}

    /**
     * Appends the answer's record at the buffer's position if it fits; the buffer is little-endian.
     * Texts that would not fit into any message are left out, the last first.
     */
    public static boolean tryEncode(Answer answer, ByteBuffer out) {
        int at = out.position();
        String headers = HeaderLines.format(answer.headers());
        int room = MAX_RECORD_BYTES - FIXED_BYTES;
        String etag = fitting(answer.etag(), room);
        room -= Text.encodedBytes(etag);
        String versionId = fitting(answer.versionId(), room);
        room -= Text.encodedBytes(versionId);
        String code = fitting(answer.code(), room);
        room -= Text.encodedBytes(code);
        String message = fitting(answer.message(), room);
        room -= Text.encodedBytes(message);
        String lines = fitting(headers, room);
        room -= Text.encodedBytes(lines);
        int padded = Records.padded(MAX_RECORD_BYTES - room);
        if (padded > out.remaining()) {
            return false;
        }
        boolean cut = answer.cut() || etag.length() < answer.etag().length()
                || versionId.length() < answer.versionId().length()
                || code.length() < answer.code().length()
                || message.length() < answer.message().length()
                || lines.length() < headers.length();
        out.position(at + FIXED_BYTES);
        out.putShort(at + RECORD_BYTES, (short) padded)
                .putShort(at + STATUS, (short) answer.status())
                .putInt(at + ID, answer.id())
                .putLong(at + BYTES_MOVED, answer.bytesMoved())
                .putLong(at + OBJECT_SIZE, answer.objectSize())
                .putLong(at + FIRST_BYTE, answer.firstByte())
                .putLong(at + LAST_MODIFIED, answer.lastModifiedMillis())
                .putShort(at + ETAG_BYTES, Records.put(out, etag))
                .putShort(at + VERSION_ID_BYTES, Records.put(out, versionId))
                .putShort(at + CODE_BYTES, Records.put(out, code))
                .putShort(at + MESSAGE_BYTES, Records.put(out, message))
                .putShort(at + HEADERS_BYTES, Records.put(out, lines))
                .put(at + CACHE, (byte) answer.cache().code())
                .put(at + FLAGS, (byte) (cut ? FLAG_CUT : 0))
                .putInt(at + RESERVED, 0);
        Records.pad(out, at + padded);
        return true;
    }

    private static String fitting(String text, int room) {
        return Text.encodedBytes(text) <= room ? text : "";
    }

    /**
     * Returns the answer at the buffer's position, which moves behind it; the buffer is
     * little-endian.
     */
    public static Answer decode(ByteBuffer in) throws MessageException {
        int at = in.position();
        int left = in.remaining();
        int bytes = left < FIXED_BYTES ? 0 : u16(in, at + RECORD_BYTES);
        if (bytes < FIXED_BYTES || bytes > left || bytes % 8 != 0) {
            throw new MessageException("an answer's bytes must be a multiple of 8 from "
                    + FIXED_BYTES + " to the message's end, which " + left + " are: " + bytes);
        }
        require(in.getInt(at + RESERVED) == 0, "reserved must be 0");
        require((in.get(at + FLAGS) & ~FLAG_CUT) == 0, "flags must be known");
        require(AnswerOrigin.isCode(in.get(at + CACHE)), "cache result must be known");
        in.position(at + FIXED_BYTES);
        int end = at + bytes;
        String etag = text(in, at + ETAG_BYTES, end);
        String versionId = text(in, at + VERSION_ID_BYTES, end);
        String code = text(in, at + CODE_BYTES, end);
        String message = text(in, at + MESSAGE_BYTES, end);
        String headers = text(in, at + HEADERS_BYTES, end);
        requirePadding(in, end);
        return new Answer(in.getInt(at + ID), u16(in, at + STATUS), in.getLong(at + BYTES_MOVED),
                in.getLong(at + OBJECT_SIZE), in.getLong(at + FIRST_BYTE),
                in.getLong(at + LAST_MODIFIED), etag, versionId, code, message,
                HeaderLines.parse(headers), AnswerOrigin.ofCode(in.get(at + CACHE)),
                (in.get(at + FLAGS) & FLAG_CUT) != 0);
    }

    private static String text(ByteBuffer in, int lengthAt, int end) throws MessageException {
        int bytes = u16(in, lengthAt);
        int at = in.position();
        require(bytes <= end - at, "an answer's texts must lie within it");
        require(Text.isWellFormed(in, at, bytes), "a text must be UTF-8");
        in.position(at + bytes);
        return Text.get(in, at, bytes);
    }

    private static void requirePadding(ByteBuffer in, int end) throws MessageException {
        require(end - in.position() < 8, "an answer's texts must fill it");
        while (in.position() < end) {
            require(in.get() == 0, "padding must be 0");
        }
    }

    private static void require(boolean kept, String rule) throws MessageException {
        if (!kept) {
            throw new MessageException(rule);
        }
    }

    private static int u16(ByteBuffer in, int at) {
        return in.getShort(at) & 0xffff;
    }
}
