package io.railhead.protocol.channel;

import static io.railhead.protocol.channel.RequestLayout.BUCKET_BYTES;
import static io.railhead.protocol.channel.RequestLayout.BUFFER_KEY;
import static io.railhead.protocol.channel.RequestLayout.FIXED_BYTES;
import static io.railhead.protocol.channel.RequestLayout.FLAGS;
import static io.railhead.protocol.channel.RequestLayout.FLAG_RANGE;
import static io.railhead.protocol.channel.RequestLayout.FLAG_SUFFIX;
import static io.railhead.protocol.channel.RequestLayout.HEADERS_BYTES;
import static io.railhead.protocol.channel.RequestLayout.ID;
import static io.railhead.protocol.channel.RequestLayout.IF_MATCH_BYTES;
import static io.railhead.protocol.channel.RequestLayout.KEY_BYTES;
import static io.railhead.protocol.channel.RequestLayout.OFFSET;
import static io.railhead.protocol.channel.RequestLayout.OPERATION;
import static io.railhead.protocol.channel.RequestLayout.PART_NUMBER;
import static io.railhead.protocol.channel.RequestLayout.RANGE_FIRST;
import static io.railhead.protocol.channel.RequestLayout.RANGE_LAST;
import static io.railhead.protocol.channel.RequestLayout.RECORD_BYTES;
import static io.railhead.protocol.channel.RequestLayout.RESERVED;
import static io.railhead.protocol.channel.RequestLayout.TO_THE_END;
import static io.railhead.protocol.channel.RequestLayout.UPLOAD_ID_BYTES;
import static io.railhead.protocol.channel.RequestLayout.VERSION_ID_BYTES;
import static io.railhead.protocol.channel.RequestLayout.WINDOW;
import static io.railhead.protocol.channel.RequestLayout.WINDOWS;

import java.nio.ByteBuffer;

/** Encodes requests; {@link RequestView} decodes them. */
public final class RequestCodec {

    private RequestCodec() {}

    /**
     * Appends the request's record at the buffer's position if it fits; the buffer is
     * little-endian. The buffer's old content does not show in padding or reserved fields.
     */
    public static boolean tryEncode(Request request, ByteBuffer out) {
        int at = out.position();
        String headers = HeaderLines.format(request.headers());
        int padded = recordBytes(request, headers);
        if (padded > out.remaining()) {
            return false;
        }
        out.position(at + FIXED_BYTES);
        out.putShort(at + RECORD_BYTES, (short) padded)
                .put(at + OPERATION, (byte) request.operation().code())
                .putInt(at + ID, request.id())
                .putInt(at + BUFFER_KEY, request.bufferKey())
                .putInt(at + PART_NUMBER, request.partNumber())
                .putLong(at + OFFSET, request.offset())
                .putLong(at + WINDOW, request.window())
                .putShort(at + BUCKET_BYTES, Records.put(out, request.bucket()))
                .putShort(at + KEY_BYTES, Records.put(out, request.key()))
                .putShort(at + VERSION_ID_BYTES, Records.put(out, request.versionId()))
                .putShort(at + IF_MATCH_BYTES, Records.put(out, request.ifMatch()))
                .putShort(at + UPLOAD_ID_BYTES, Records.put(out, request.uploadId()))
                .putShort(at + HEADERS_BYTES, putLast(request, headers, out))
                .putShort(at + WINDOWS, (short) request.windows().size())
                .putShort(at + RESERVED, (short) 0);
        request.windows().forEach(window -> put(window, out));
        putRange(request.range(), out, at);
        Records.pad(out, at + padded);
        return true;
    }

    /** Returns the length of the request's record, padding included. */
    public static int recordBytes(Request request) {
        return recordBytes(request, HeaderLines.format(request.headers()));
    }

    private static int recordBytes(Request request, String headers) {
        return Records.padded(FIXED_BYTES + Text.encodedBytes(request.bucket())
                + Text.encodedBytes(request.key()) + Text.encodedBytes(request.versionId())
                + Text.encodedBytes(request.ifMatch()) + Text.encodedBytes(request.uploadId())
                + Text.encodedBytes(headers) + request.keys().length()
                + request.windows().size() * RequestWindow.BYTES);
    }

    private static void put(RequestWindow window, ByteBuffer out) {
        out.putInt(window.bufferKey())
                .putInt(0)
                .putLong(window.offset())
                .putLong(window.length());
    }

    /** Appends the headers, or the keys in their place; returns their length. */
    private static short putLast(Request request, String headers, ByteBuffer out) {
        if (!request.operation().hasKeyBlock()) {
            return Records.put(out, headers);
        }
        request.keys().put(out);
        return (short) request.keys().length();
    }

    private static void putRange(RequestRange range, ByteBuffer out, int at) {
        switch (range) {
            case RequestRange.All() -> putRange(out, at, 0, 0, 0);
            case RequestRange.Between(long first, long last) ->
                putRange(out, at, FLAG_RANGE, first, last);
            case RequestRange.From(long first) -> putRange(out, at, FLAG_RANGE, first, TO_THE_END);
            case RequestRange.Last(long bytes) ->
                putRange(out, at, FLAG_RANGE | FLAG_SUFFIX, bytes, 0);
        }
    }

    private static void putRange(ByteBuffer out, int at, int flags, long first, long last) {
        out.put(at + FLAGS, (byte) flags)
                .putLong(at + RANGE_FIRST, first)
                .putLong(at + RANGE_LAST, last);
    }
}
