package io.railhead.gateway.object.read;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.Body;
import io.railhead.backend.FixedBody;
import io.railhead.backend.Headers;
import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.fill.ObjectHeaders;
import io.railhead.gateway.request.ByteRange;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;

/**
 * A GET or HEAD of an object that the gateway holds in place of a store, with conditions and
 * ranges.
 */
public record HeldRead(Bytes bytes, BackendRequest request, Query query) {

    /** The bytes of a held object. */
    @FunctionalInterface
    public interface Bytes {

        /** Returns the bytes {@code [from, to)} of an object, which has them. */
        Body of(ObjectMetadata held, long from, long to);
    }

    /** Throws {@code S3Refusal} if a condition does not hold, or nothing lies in the range. */
    public BackendResponse of(ObjectMetadata held) {
        requireMatch(held);
        if (isUnchanged(held)) {
            return new BackendResponse(304, headers(held, null).build(), FixedBody.EMPTY);
        }
        ReadPlan plan = plan(held);
        if (plan == null) {
            throw new S3Refusal(S3Error.INVALID_RANGE);
        }
        Headers.Builder headers = headers(held, plan)
                .add("accept-ranges", "bytes")
                .add("content-length", Long.toString(plan.length()));
        if (plan.status() == 206) {
            headers.add("content-range",
                    "bytes " + plan.from() + "-" + (plan.to() - 1) + "/" + plan.sizeBytes());
        }
        Body body = request.method().equals("HEAD") || plan.length() == 0
                ? FixedBody.EMPTY
                : bytes.of(held, plan.from(), plan.to());
        return new BackendResponse(plan.status(), headers.build(), body);
    }

    private @Nullable ReadPlan plan(ObjectMetadata held) {
        String part = query.get("partNumber");
        if (part != null && !part.equals("1")) {
            throw new S3Refusal(S3Error.INVALID_PART_NUMBER);
        }
        long size = held.version().sizeBytes();
        if (part != null && size > 0) {
            return new ReadPlan(held, 0, size, 206);
        }
        String range = request.headers().get("range");
        String ifRange = request.headers().get("if-range");
        boolean isForThis = ifRange == null || names(ifRange, held);
        return ReadPlan.of(held, range == null || !isForThis ? null : ByteRange.parse(range));
    }

    private void requireMatch(ObjectMetadata held) {
        String ifMatch = request.headers().get("if-match");
        Instant since = date(request.headers().get("if-unmodified-since"));
        boolean failed = ifMatch != null
                ? !names(ifMatch, held)
                : since != null && lastModified(held).isAfter(since);
        if (failed) {
            throw new S3Refusal(S3Error.PRECONDITION_FAILED);
        }
    }

    private boolean isUnchanged(ObjectMetadata held) {
        String ifNoneMatch = request.headers().get("if-none-match");
        if (ifNoneMatch != null) {
            return names(ifNoneMatch, held);
        }
        Instant since = date(request.headers().get("if-modified-since"));
        return since != null && !lastModified(held).isAfter(since);
    }

    /** Returns whether a list of ETags names the object's; clients may leave the quotes out. */
    public static boolean names(String list, ObjectMetadata held) {
        String etag = held.version().etag();
        String bare = etag.substring(1, etag.length() - 1);
        for (String each : list.split(",", -1)) {
            String named = each.strip();
            if (named.equals("*") || named.equals(etag) || named.equals(bare)
                    || named.equals("W/" + etag)) {
                return true;
            }
        }
        return false;
    }

    private static Instant lastModified(ObjectMetadata held) {
        Instant known = date(held.headers().get("last-modified"));
        return known == null ? Instant.EPOCH : known;
    }

    /** Returns null for a header that is absent or no date, which is then ignored. */
    public static @Nullable Instant date(@Nullable String header) {
        try {
            return header == null
                    ? null
                    : DateTimeFormatter.RFC_1123_DATE_TIME.parse(header.strip(), Instant::from);
        } catch (DateTimeParseException e) {
            return null;
        }
    }

    /** @param plan null if no bytes are sent */
    private Headers.Builder headers(ObjectMetadata held, @Nullable ReadPlan plan) {
        boolean isWhole = plan != null && plan.length() == plan.sizeBytes();
        boolean isAsked = "ENABLED".equalsIgnoreCase(request.headers().get("x-amz-checksum-mode"));
        Headers.Builder headers = Headers.builder();
        ObjectHeaders.forEach(held, isWhole && isAsked
                ? ObjectHeaders.Checksums.SHOWN
                : ObjectHeaders.Checksums.HIDDEN, (name, value) -> {
                    // The exchange says so in every response.
                    if (!name.equals(ObjectHeaders.DURABILITY)) {
                        headers.add(name, value);
                    }
                });
        return headers;
    }
}
