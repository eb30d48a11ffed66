package io.railhead.client;

import io.railhead.protocol.channel.Answer;
import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A delivered range of an object, of the requested version and range.
 *
 * @param offset the offset of its first byte in the object
 * @param bytes fewer than requested only at the object's end
 * @param total the object's bytes
 * @param etag as received, quotes included
 */
public record Part(long offset, int bytes, long total, String etag) {
    private static final Pattern CONTENT_RANGE = Pattern
            .compile("bytes (\\d{1,18})-(\\d{1,18})/(\\d{1,18})");

    /** Returns the part that an HTTP response contains; another range or version is an error. */
    static Part of(HttpAnswer answer, PartRequest request) throws IOException {
        String etag = answer.requireHeader("ETag");
        if (answer.status() == 200) {
            return whole(contentLength(answer), request, etag);
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
        return checked(new Part(first, (int) (last - first + 1), total, etag), request);
    }

    /** Returns the part that a channel's answer reports; another range or version is an error. */
    static Part of(Answer answer, PartRequest request) throws IOException {
        if (!answer.isSuccess()) {
            throw S3Exception.of(answer);
        }
        if (answer.bytesMoved() < 0 || answer.bytesMoved() > request.bytes()) {
            throw new PermanentException("asked for " + request.bytes() + " bytes, got "
                    + answer.bytesMoved());
        }
        return checked(new Part(answer.firstByte(), (int) answer.bytesMoved(),
                answer.objectSize(), answer.etag()), request);
    }

    /** Accepts a whole object in place of a range that covers it, which stores may send. */
    private static Part whole(long length, PartRequest request, String etag) throws IOException {
        if (request.offset() != 0 || length > request.bytes()) {
            throw new PermanentException("the store ignored the Range header");
        }
        return checked(new Part(0, (int) length, length, etag), request);
    }

    private static Part checked(Part part, PartRequest request) throws IOException {
        if (request.etag() != null && !request.etag().equals(part.etag)) {
            throw new PermanentException(request.name() + " changed while it was read: "
                    + request.etag() + " became " + part.etag);
        }
        if (request.total() >= 0 && request.total() != part.total) {
            throw new PermanentException("the object's size changed while it was read: "
                    + request.total() + " became " + part.total);
        }
        long expected = Math.min(request.bytes(), part.total - request.offset());
        if (part.offset != request.offset() || part.bytes != expected) {
            throw new PermanentException("asked for " + request.bytes() + " bytes at "
                    + request.offset() + ", got " + part.bytes + " at " + part.offset + " of "
                    + part.total);
        }
        return part;
    }

    static long contentLength(HttpAnswer answer) throws IOException {
        String text = answer.requireHeader("Content-Length");
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IOException("bad Content-Length: " + text, e);
        }
    }
}
