package io.railhead.gateway.relay;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.gateway.request.ByteRange;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Handles responses to a range without bytes. HTTP has no empty part, but some stores send one: the
 * client gets S3's response instead.
 */
public final class EmptyParts {
    private static final Pattern BYTES = Pattern.compile("/0*[1-9][0-9]*\\s*$");

    private EmptyParts() {}

    /** Returns whether the response is a success without bytes, of an empty object. */
    public static boolean isEmpty(BackendResponse answer) {
        return (answer.status() == 200 || answer.status() == 206)
                && "0".equals(answer.headers().get("content-length"))
                && !hasBytes(answer.headers().get("content-range"));
    }

    /** Returns whether the object has bytes: an empty part of it is then wrong. */
    private static boolean hasBytes(@Nullable String contentRange) {
        return contentRange != null && BYTES.matcher(contentRange).find();
    }

    /**
     * Returns the response, corrected if it is an empty part; throws InvalidRange in place of a
     * wrong success.
     */
    public static BackendResponse asS3(S3Request request, BackendResponse answer) {
        ByteRange range = request.range();
        if (range == null || answer.status() != 206 || !isEmpty(answer)) {
            return answer;
        }
        if (range.isSuffix() && range.last() > 0) {
            // A suffix of an empty object is the whole object.
            return new BackendResponse(200,
                    answer.headers().toBuilder().remove("content-range").build(), answer.body());
        }
        BodyDrain.discard(answer.body());
        throw new S3Refusal(S3Error.INVALID_RANGE);
    }
}
