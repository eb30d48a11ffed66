package io.railhead.protocol.channel;

import static java.util.Objects.requireNonNull;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The one answer to a request. Absent texts are empty.
 *
 * @param status HTTP status; 0 for a decline, whose reason is in {@code code}: nothing was stored,
 *            and the peer may use HTTP
 * @param bytesMoved the bytes moved into or out of the peer's window
 * @param objectSize the object's bytes; of requests of many keys a number of objects
 * @param firstByte the offset in the object of the moved bytes
 * @param lastModifiedMillis since the epoch; 0 if unknown
 * @param code the S3 error code, or the reason of a decline
 * @param headers of HEAD, PUT, UPLOAD_PART and requests of many keys, names in lower case;
 *            {@link #REQUEST_ID} unless the answer is a success
 * @param cut whether texts were left out because they did not fit into a message; set by decoding
 *            only
 */
public record Answer(int id, int status, long bytesMoved, long objectSize, long firstByte,
        long lastModifiedMillis, String etag, String versionId, String code, String message,
        Map<String, String> headers, AnswerOrigin cache, boolean cut) {

    /** The header with the request's name in the gateway's logs, in answers that are no success. */
    public static final String REQUEST_ID = "x-railhead-request-id";

    /** The {@link #code} of a request that was cancelled before it was served. */
    public static final String CANCELLED = "cancelled";

    public Answer {
        requireNonNull(cache, "cache is null");
        if (status < 0 || status > 0xffff) {
            throw new IllegalArgumentException("status must have 16 bits: " + status);
        }
        headers = HeaderLines.requireValid(headers);
    }

    /** Returns an answer whose object bytes are in the window. */
    public static Answer delivered(int id, int status, long bytesMoved, long objectSize,
            long firstByte, long lastModifiedMillis, String etag, String versionId,
            AnswerOrigin cache) {
        return new Answer(id, status, bytesMoved, objectSize, firstByte, lastModifiedMillis, etag,
                versionId, "", "", Map.of(), cache, false);
    }

    /** Returns an answer with an object's metadata. */
    public static Answer described(int id, long objectSize, long lastModifiedMillis, String etag,
            String versionId, Map<String, String> headers, AnswerOrigin cache) {
        return new Answer(id, 200, 0, objectSize, 0, lastModifiedMillis, etag, versionId, "", "",
                headers, cache, false);
    }

    /** Returns an answer to an upload that the backend has stored. */
    public static Answer stored(int id, long bytesMoved, String etag, String versionId,
            Map<String, String> headers) {
        return new Answer(id, 200, bytesMoved, bytesMoved, 0, 0, etag, versionId, "", "", headers,
                AnswerOrigin.NONE, false);
    }

    /**
     * Returns an answer to a request of many keys.
     *
     * @param count the keys held, those that lead, the objects removed, or those counted
     * @param headers {@link HeldKeys#HEADER} where each key has a bit, those of {@link KeyUsage},
     *            or none
     */
    public static Answer ofKeys(int id, long count, Map<String, String> headers) {
        return new Answer(id, 200, 0, count, 0, 0, "", "", "", "", headers, AnswerOrigin.NONE,
                false);
    }

    /** Returns a decline: nothing was stored, and the peer may use HTTP. */
    public static Answer declined(int id, String reason) {
        return new Answer(id, 0, 0, 0, 0, 0, "", "", reason, "", Map.of(), AnswerOrigin.NONE,
                false);
    }

    /** Returns a refusal of the gateway or of the store. */
    public static Answer failed(int id, int status, String code, String message) {
        return new Answer(id, status, 0, 0, 0, 0, "", "", code, message, Map.of(),
                AnswerOrigin.NONE, false);
    }

    /** Returns the name of a request in logs, metrics and {@link #REQUEST_ID}. */
    public static String requestId(int session, int id) {
        return Integer.toHexString(session) + "/" + Integer.toUnsignedString(id);
    }

    /** Returns the same answer, with its request's name unless it is a success. */
    public Answer named(int session) {
        if (isSuccess()) {
            return this;
        }
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(REQUEST_ID, requestId(session, id));
        return new Answer(id, status, bytesMoved, objectSize, firstByte, lastModifiedMillis, etag,
                versionId, code, message, more, cache, cut);
    }

    public boolean isSuccess() {
        return status >= 200 && status < 300;
    }
}
