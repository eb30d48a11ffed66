package io.railhead.protocol.channel;

/**
 * The layout of a request's record, little-endian:
 *
 * <pre>
 *    0      2  3     4          8          12          16        24        32          40         48
 *    |bytes |op|flags|request id|buffer key|part number|offset   |window   |range first|range last|
 *
 *   48      50   52       54        56         58       60      62        64
 *    |bucket|key |version |If-Match |upload id |headers |windows|reserved | the texts, in this
 *            (bytes of each)                             count              order, and the windows,
 *                                                        padded together to a multiple of 8
 * </pre>
 */
final class RequestLayout {
    static final int RECORD_BYTES = 0;
    static final int OPERATION = 2;
    static final int FLAGS = 3;
    static final int ID = 4;
    static final int BUFFER_KEY = 8;
    static final int PART_NUMBER = 12;
    static final int OFFSET = 16;
    static final int WINDOW = 24;
    static final int RANGE_FIRST = 32;
    static final int RANGE_LAST = 40;
    static final int BUCKET_BYTES = 48;
    static final int KEY_BYTES = 50;
    static final int VERSION_ID_BYTES = 52;
    static final int IF_MATCH_BYTES = 54;
    static final int UPLOAD_ID_BYTES = 56;
    static final int HEADERS_BYTES = 58;
    /** The number of windows behind the texts; 0 for the one window of the fixed fields. */
    static final int WINDOWS = 60;
    static final int RESERVED = 62;
    static final int FIXED_BYTES = 64;

    static final int FLAG_RANGE = 1;
    static final int FLAG_SUFFIX = 2;
    /** The last byte of a range up to the object's end. */
    static final long TO_THE_END = -1;
    /** The alignment of each record. */
    static final int ALIGNMENT = 8;

    private RequestLayout() {}
}
