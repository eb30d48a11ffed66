package io.railhead.protocol.channel;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Map;

/**
 * One request. Absent texts are empty.
 *
 * @param id the peer's choice, unique among its outstanding requests
 * @param bufferKey of the registered buffer; 0 for requests that have no window, or several
 * @param offset the window's offset in the buffer
 * @param window the bytes that may be written (GET) or are to be read (PUT, UPLOAD_PART), of all
 *            windows together
 * @param partNumber from 1 for UPLOAD_PART; of LEASE and REMOVALS milliseconds, from 1; else 0
 * @param key not percent-encoded; of requests of many keys their prefix, which may be empty
 * @param headers of PUT and UPLOAD_PART: content-type, x-amz-meta-*, x-amz-checksum-*,
 *            if-none-match, ...; names in lower case
 * @param windows of GET and PUT, filled or sent in this order; empty for the one window that buffer
 *            key, offset and window say
 * @param keys of EXISTS, PREFIX, DELETE, LEASE and TOUCH
 */
public record Request(int id, RequestOperation operation, RequestRange range, int bufferKey,
        long offset, long window, int partNumber, String bucket, String key, String versionId,
        String ifMatch, String uploadId, Map<String, String> headers, KeyBlock keys,
        List<RequestWindow> windows) {

    public Request {
        requireNonNull(range, "range is null");
        if (bucket.isEmpty() || (key.isEmpty() && !operation.isOfKeys())) {
            throw new IllegalArgumentException("bucket and key must not be empty");
        }
        if (operation.hasKeyBlock() != (keys.length() > 0)) {
            throw new IllegalArgumentException(
                    "keys must be there for many keys, but for DELETE_PREFIX, USAGE and REMOVALS");
        }
        if (!HeaderLines.isValue(ifMatch)) {
            throw new IllegalArgumentException("If-Match must have no control characters");
        }
        headers = HeaderLines.requireValid(headers);
        windows = List.copyOf(windows);
        if (!windows.isEmpty() && (windows.size() > RequestWindow.MAX_WINDOWS || bufferKey != 0
                || offset != 0 || window != total(windows) || !operation.mayHaveWindows())) {
            throw new IllegalArgumentException("windows must be of GET or PUT, at most "
                    + RequestWindow.MAX_WINDOWS + ", and their bytes the window");
        }
    }

    private static long total(List<RequestWindow> windows) {
        return windows.stream().mapToLong(RequestWindow::length).sum();
    }

    /** Makes a request of one object. */
    public Request(int id, RequestOperation operation, RequestRange range, int bufferKey,
            long offset, long window, int partNumber, String bucket, String key, String versionId,
            String ifMatch, String uploadId, Map<String, String> headers) {
        this(id, operation, range, bufferKey, offset, window, partNumber, bucket, key, versionId,
                ifMatch, uploadId, headers, KeyBlock.NONE, List.of());
    }

    /** Returns a GET of the whole object, clipped to the window. */
    public static Request get(int id, String bucket, String key, int bufferKey, long offset,
            long window) {
        return new Request(id, RequestOperation.GET, RequestRange.ALL, bufferKey, offset, window, 0,
                bucket, key, "", "", "", Map.of());
    }

    /** Returns a GET of the whole object into several windows, clipped to all of them. */
    public static Request get(int id, String bucket, String key, List<RequestWindow> windows) {
        return new Request(id, RequestOperation.GET, RequestRange.ALL, 0, 0, total(windows), 0,
                bucket, key, "", "", "", Map.of(), KeyBlock.NONE, windows);
    }

    /** Returns a PUT of the bytes of several windows. */
    public static Request put(int id, String bucket, String key, List<RequestWindow> windows,
            Map<String, String> headers) {
        return new Request(id, RequestOperation.PUT, RequestRange.ALL, 0, 0, total(windows), 0,
                bucket, key, "", "", "", headers, KeyBlock.NONE, windows);
    }

    public static Request head(int id, String bucket, String key) {
        return new Request(id, RequestOperation.HEAD, RequestRange.ALL, 0, 0, 0, 0, bucket, key, "",
                "", "", Map.of());
    }

    public static Request put(int id, String bucket, String key, int bufferKey, long offset,
            long window, Map<String, String> headers) {
        return new Request(id, RequestOperation.PUT, RequestRange.ALL, bufferKey, offset, window, 0,
                bucket, key, "", "", "", headers);
    }

    /**
     * Returns an EXISTS, PREFIX, DELETE, DELETE_PREFIX, TOUCH or USAGE.
     *
     * @param keys {@link KeyBlock#NONE} for DELETE_PREFIX and USAGE
     */
    public static Request ofKeys(int id, RequestOperation operation, String bucket, String prefix,
            KeyBlock keys) {
        return new Request(id, operation, RequestRange.ALL, 0, 0, 0, 0, bucket, prefix, "", "", "",
                Map.of(), keys, List.of());
    }

    /** Returns a LEASE for so many milliseconds, at least 1. */
    public static Request lease(int id, String bucket, String prefix, KeyBlock keys, int millis) {
        return new Request(id, RequestOperation.LEASE, RequestRange.ALL, 0, 0, 0, millis, bucket,
                prefix, "", "", "", Map.of(), keys, List.of());
    }

    /** Returns a REMOVALS that waits for so many milliseconds at most, at least 1. */
    public static Request removals(int id, String bucket, String prefix, int millis) {
        return new Request(id, RequestOperation.REMOVALS, RequestRange.ALL, 0, 0, 0, millis, bucket,
                prefix, "", "", "", Map.of(), KeyBlock.NONE, List.of());
    }

    public Request withId(int otherId) {
        return new Request(otherId, operation, range, bufferKey, offset, window, partNumber, bucket,
                key, versionId, ifMatch, uploadId, headers, keys, windows);
    }

    public Request withRange(RequestRange otherRange) {
        return new Request(id, operation, otherRange, bufferKey, offset, window, partNumber, bucket,
                key, versionId, ifMatch, uploadId, headers, keys, windows);
    }
}
