package io.railhead.protocol.channel;

import static io.railhead.protocol.channel.RequestLayout.ALIGNMENT;
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

import io.railhead.protocol.message.MessageException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A view of one request in its message: fields are copied only on demand. Valid during the call
 * that received it; one thread.
 */
public final class RequestView {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private ByteBuffer bytes = NOTHING;
    private int at;
    private int bucketBytes;
    private int keyBytes;
    private int versionIdAt;
    private int ifMatchAt;
    private int uploadIdAt;
    private int headersAt;
    private int end;
    private RequestOperation operation = RequestOperation.GET;
    private Map<String, String> headers = Map.of();

    /**
     * Points the view at the record that begins at {@code recordAt}, and checks the whole record.
     *
     * @param message little-endian
     * @param limit the end of the message
     * @return the end of the record, where the next one begins
     */
    public int wrap(ByteBuffer message, int recordAt, int limit) throws MessageException {
        if (message.order() != ByteOrder.LITTLE_ENDIAN) {
            throw new IllegalArgumentException("the message must be little-endian");
        }
        bytes = message;
        at = recordAt;
        int recordEnd = recordAt + requireRecordBytes(limit);
        locateTexts(recordEnd);
        requireZeros(recordEnd);
        requireFields();
        requireTexts();
        return recordEnd;
    }

    private int requireRecordBytes(int limit) throws MessageException {
        int left = limit - at;
        int claimed = left < FIXED_BYTES ? 0 : u16(RECORD_BYTES);
        if (claimed < FIXED_BYTES || claimed > left || claimed % ALIGNMENT != 0) {
            throw new MessageException("a request's bytes must be a multiple of 8 from "
                    + FIXED_BYTES + " to the message's end, which " + left + " are: " + claimed);
        }
        return claimed;
    }

    private void locateTexts(int recordEnd) throws MessageException {
        bucketBytes = u16(BUCKET_BYTES);
        keyBytes = u16(KEY_BYTES);
        versionIdAt = at + FIXED_BYTES + bucketBytes + keyBytes;
        ifMatchAt = versionIdAt + u16(VERSION_ID_BYTES);
        uploadIdAt = ifMatchAt + u16(IF_MATCH_BYTES);
        headersAt = uploadIdAt + u16(UPLOAD_ID_BYTES);
        end = headersAt + u16(HEADERS_BYTES);
        int used = end + windowCount() * RequestWindow.BYTES;
        if (used > recordEnd || recordEnd - used >= ALIGNMENT) {
            throw new MessageException("a request's texts and windows must fill it: they take "
                    + (used - at) + " of " + (recordEnd - at) + " bytes");
        }
    }

    private void requireZeros(int recordEnd) throws MessageException {
        require(bytes.getShort(at + RESERVED) == 0, "reserved must be 0");
        for (int i = end + windowCount() * RequestWindow.BYTES; i < recordEnd; i++) {
            require(bytes.get(i) == 0, "padding must be 0");
        }
    }

    private void requireFields() throws MessageException {
        RequestOperation found = RequestOperation.findByCode(bytes.get(at + OPERATION));
        if (found == null) {
            throw new MessageException("operation must be known: " + bytes.get(at + OPERATION));
        }
        operation = found;
        requireRange();
        boolean isPart = operation == RequestOperation.UPLOAD_PART;
        require(operation.hasNumber() ? partNumber() > 0 : partNumber() == 0,
                "part number must be from 1 for UPLOAD_PART, LEASE and REMOVALS, and 0 for others");
        require(isPart == (headersAt > uploadIdAt),
                "upload id must be there for UPLOAD_PART, and for no other");
        require(operation.isWrite() || operation.hasKeyBlock() || end == headersAt,
                "headers must be empty but for PUT and UPLOAD_PART");
        require(!operation.isWrite() || ifMatchAt == versionIdAt,
                "version id must be empty for PUT and UPLOAD_PART");
        require(operation.hasWindow() || (bufferKey() == 0 && offset() == 0 && window() == 0),
                "buffer key, offset and window must be 0 without a window");
        requireWindows();
        require(bucketBytes > 0 && (keyBytes > 0 || operation.isOfKeys()),
                "bucket and key must not be empty");
        require(!operation.isOfKeys() || uploadIdAt == versionIdAt,
                "version id and If-Match must be empty for many keys");
        require(!operation.hasKeyBlock() || end > headersAt, "the keys must be there");
    }

    private void requireWindows() throws MessageException {
        int count = windowCount();
        if (count == 0) {
            return;
        }
        require(operation.mayHaveWindows() && count <= RequestWindow.MAX_WINDOWS,
                "several windows must be of GET or PUT, and at most " + RequestWindow.MAX_WINDOWS);
        require(bufferKey() == 0 && offset() == 0,
                "buffer key and offset must be 0 with several windows");
        long left = window();
        for (int i = 0; i < count; i++) {
            long length = bytes.getLong(windowAt(i) + RequestWindow.LENGTH);
            require(bytes.getInt(windowAt(i) + RequestWindow.RESERVED) == 0, "reserved must be 0");
            // Subtracted, since a sum may run over.
            require(length >= 1 && length <= left, "the window must be the bytes of all windows");
            left -= length;
        }
        require(left == 0, "the window must be the bytes of all windows");
    }

    private void requireRange() throws MessageException {
        int flags = bytes.get(at + FLAGS);
        require((flags & ~(FLAG_RANGE | FLAG_SUFFIX)) == 0, "flags must be known");
        require(hasRange() || !isSuffix(), "a suffix must be a range");
        require(!hasRange() || (!operation.isWrite() && !operation.isOfKeys()),
                "a range must be of GET or HEAD");
        if (!hasRange()) {
            require(rangeFirst() == 0 && rangeLast() == 0, "without a range, its bounds must be 0");
        } else if (isSuffix()) {
            require(rangeFirst() >= 0 && rangeLast() == 0,
                    "a suffix must have 63 bits, and its range last be 0");
        } else {
            require(rangeFirst() >= 0 && (rangeLast() >= rangeFirst() || rangeLast() == TO_THE_END),
                    "range must be first <= last, in 63 bits, or to the end");
        }
    }

    private void requireTexts() throws MessageException {
        require(isText(bucketAt(), keyAt()) && isText(keyAt(), versionIdAt)
                && isText(versionIdAt, ifMatchAt) && isText(ifMatchAt, uploadIdAt)
                && isText(uploadIdAt, headersAt)
                && (operation.hasKeyBlock() || isText(headersAt, end)),
                "a text must be UTF-8");
        require(!hasIfMatch() || HeaderLines.isValue(ifMatch()),
                "If-Match must have no control characters");
        headers = operation.hasKeyBlock()
                ? Map.of()
                : HeaderLines.parse(Text.get(bytes, headersAt, end - headersAt));
    }

    private boolean isText(int from, int to) {
        return Text.isWellFormed(bytes, from, to - from);
    }

    private static void require(boolean kept, String rule) throws MessageException {
        if (!kept) {
            throw new MessageException(rule);
        }
    }

    private int u16(int field) {
        return bytes.getShort(at + field) & 0xffff;
    }

    private int bucketAt() {
        return at + FIXED_BYTES;
    }

    private int keyAt() {
        return at + FIXED_BYTES + bucketBytes;
    }

    public int id() {
        return bytes.getInt(at + ID);
    }

    public RequestOperation operation() {
        return operation;
    }

    public boolean hasRange() {
        return (bytes.get(at + FLAGS) & FLAG_RANGE) != 0;
    }

    /** Returns whether the range is the object's last {@link #rangeFirst()} bytes. */
    public boolean isSuffix() {
        return (bytes.get(at + FLAGS) & FLAG_SUFFIX) != 0;
    }

    /** Returns the range's first byte, or a suffix's length; at least 0. */
    public long rangeFirst() {
        return bytes.getLong(at + RANGE_FIRST);
    }

    /** Returns the range's last byte, inclusive; -1 for the object's end. */
    public long rangeLast() {
        return bytes.getLong(at + RANGE_LAST);
    }

    /** Returns the range as a value; allocates. */
    public RequestRange range() {
        if (!hasRange()) {
            return RequestRange.ALL;
        }
        if (isSuffix()) {
            return new RequestRange.Last(rangeFirst());
        }
        return rangeLast() == TO_THE_END
                ? new RequestRange.From(rangeFirst())
                : new RequestRange.Between(rangeFirst(), rangeLast());
    }

    /** Returns the key of the registered buffer; 0 for none. */
    public int bufferKey() {
        return bytes.getInt(at + BUFFER_KEY);
    }

    /** Returns the window's offset in the buffer; unsigned, and not checked against the buffer. */
    public long offset() {
        return bytes.getLong(at + OFFSET);
    }

    /** Returns the window's length; unsigned, and not checked against the buffer. */
    public long window() {
        return bytes.getLong(at + WINDOW);
    }

    /** Returns the number of windows behind the texts; 0 if there is only the one above. */
    public int windowCount() {
        return u16(WINDOWS);
    }

    private int windowAt(int index) {
        return end + index * RequestWindow.BYTES;
    }

    /** Returns the windows behind the texts; allocates. */
    public List<RequestWindow> windows() {
        if (windowCount() == 0) {
            return List.of();
        }
        List<RequestWindow> windows = new ArrayList<>(windowCount());
        for (int i = 0; i < windowCount(); i++) {
            windows.add(new RequestWindow(bytes.getInt(windowAt(i)),
                    bytes.getLong(windowAt(i) + RequestWindow.OFFSET),
                    bytes.getLong(windowAt(i) + RequestWindow.LENGTH)));
        }
        return windows;
    }

    /** Returns the part number of UPLOAD_PART or the milliseconds of LEASE and REMOVALS; else 0. */
    public int partNumber() {
        return bytes.getInt(at + PART_NUMBER);
    }

    public boolean hasVersionId() {
        return ifMatchAt > versionIdAt;
    }

    public boolean hasIfMatch() {
        return uploadIdAt > ifMatchAt;
    }

    /** Returns a hash of bucket and key. */
    public int nameHash() {
        return ObjectNameBytes.hash(bytes, bucketAt(), bucketBytes + keyBytes, bucketBytes);
    }

    public boolean nameEquals(ObjectNameBytes name) {
        return name.isAt(bytes, bucketAt(), bucketBytes, keyBytes);
    }

    /** Returns a copy of bucket and key that outlives the message. */
    public ObjectNameBytes name() {
        return ObjectNameBytes.copy(bytes, bucketAt(), bucketBytes, keyBytes);
    }

    public String bucket() {
        return Text.get(bytes, bucketAt(), bucketBytes);
    }

    public String key() {
        return Text.get(bytes, keyAt(), keyBytes);
    }

    public String versionId() {
        return Text.get(bytes, versionIdAt, ifMatchAt - versionIdAt);
    }

    public String ifMatch() {
        return Text.get(bytes, ifMatchAt, uploadIdAt - ifMatchAt);
    }

    public String uploadId() {
        return Text.get(bytes, uploadIdAt, headersAt - uploadIdAt);
    }

    /** Returns the headers, with names in lower case; unmodifiable, and outlives the message. */
    public Map<String, String> headers() {
        return headers;
    }

    /** Returns the keys of a request that names many, which outlive the message. */
    public KeyBlock keys() {
        return operation.hasKeyBlock()
                ? KeyBlock.copy(bytes, headersAt, end - headersAt)
                : KeyBlock.NONE;
    }

    /** Returns a copy that outlives the message. */
    public Request toRequest() {
        return new Request(id(), operation(), range(), bufferKey(), offset(), window(),
                partNumber(), bucket(), key(), versionId(), ifMatch(), uploadId(), headers(),
                keys(), windows());
    }
}
