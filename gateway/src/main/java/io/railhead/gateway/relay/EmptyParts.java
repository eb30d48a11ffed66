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
 * Answers to a range of which there is no byte. HTTP has no part without bytes, but some stores
 * send one all the same: the client hears what S3 would say.
 */
public final class EmptyParts {
    private static final Pattern BYTES = Pattern.compile("/0*[1-9][0-9]*\\s*$");

    private EmptyParts() {}

    /** Returns whether the answer is a success without bytes, of an object that has none. */
    public static boolean isEmpty(BackendResponse answer) {
        return (answer.status() == 200 || answer.status() == 206)
                && "0".equals(answer.headers().get("content-length"))
                && !hasBytes(answer.headers().get("content-range"));
    }

    /** Returns whether the object has bytes: a part without any is then a lie. */
    private static boolean hasBytes(@Nullable String contentRange) {
        return contentRange != null && BYTES.matcher(contentRange).find();
    }

    /** The answer itself, but for a part without bytes; throws InvalidRange, which ends it. */
    public static BackendResponse asS3(S3Request request, BackendResponse answer) {
        ByteRange range = request.range();
        if (range == null || answer.status() != 206 || !isEmpty(answer)) {
            return answer;
        }
        if (range.isSuffix() && range.last() > 0) {
            // Only an empty object has no last bytes, and all of it is what they are.
            return new BackendResponse(200,
                    answer.headers().toBuilder().remove("content-range").build(), answer.body());
        }
        BodyDrain.discard(answer.body());
        throw new S3Refusal(S3Error.INVALID_RANGE);
    }
}
