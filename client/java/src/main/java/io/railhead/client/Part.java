package io.railhead.client;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What an answer to a {@link PartRequest} claims to carry, checked against what was asked: another
 * range or another version is an error, never a part.
 */
record Part(long offset, int bytes, long total, String etag) {
    private static final Pattern CONTENT_RANGE = Pattern
            .compile("bytes (\\d{1,18})-(\\d{1,18})/(\\d{1,18})");

    static Part of(Answer answer, PartRequest request) throws IOException {
        String etag = answer.requireHeader("ETag");
        if (request.etag() != null && !request.etag().equals(etag)) {
            throw new PermanentException(request.name() + " changed while it was read: "
                    + request.etag() + " became " + etag);
        }
        if (answer.status() == 200) {
            return whole(answer, request, etag);
        }
        String range = answer.requireHeader("Content-Range");
        Matcher match = CONTENT_RANGE.matcher(range);
        if (answer.status() != 206 || !match.matches()) {
            throw new PermanentException(
                    "HTTP " + answer.status() + " with Content-Range '" + range + "'");
        }
        long first = Long.parseLong(match.group(1));
        long last = Long.parseLong(match.group(2));
        long total = Long.parseLong(match.group(3));
        long expected = Math.min(request.bytes(), total - request.offset());
        if (first != request.offset() || last - first + 1 != expected) {
            throw new PermanentException(
                    "asked for " + request.bytes() + " bytes at " + request.offset() + ", got '"
                            + range + "'");
        }
        return new Part(first, (int) expected, total, etag);
    }

    /** A store may answer a range that covers the object as the object. */
    private static Part whole(Answer answer, PartRequest request, String etag) throws IOException {
        long length = contentLength(answer);
        if (request.offset() != 0 || length > request.bytes()) {
            throw new PermanentException("the store ignored the Range header");
        }
        return new Part(0, (int) length, length, etag);
    }

    static long contentLength(Answer answer) throws IOException {
        String text = answer.requireHeader("Content-Length");
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IOException("bad Content-Length: " + text, e);
        }
    }
}
