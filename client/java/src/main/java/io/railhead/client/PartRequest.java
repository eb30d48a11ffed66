package io.railhead.client;

import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.SdkHttpMethod;

/**
 * One range of one object.
 *
 * @param etag the version that it must be of; null for whichever is current
 * @param total bytes that the object must have; negative if that is not known
 */
record PartRequest(ObjectName name, long offset, int bytes, @Nullable String etag, long total) {
    static final long ANY = -1;

    /** Of whichever version is current. */
    static PartRequest first(ObjectName name, int bytes) {
        return new PartRequest(name, 0, bytes, null, ANY);
    }

    /** Of the version that its first part showed. */
    static PartRequest next(ObjectName name, long offset, int bytes, Part first) {
        return new PartRequest(name, offset, bytes, first.etag(), first.total());
    }

    Call call() {
        Call call = Call.to(SdkHttpMethod.GET, name)
                .header("Range",
                        "bytes=" + offset + "-" + (offset + bytes - 1));
        return etag == null ? call : call.header("If-Match", etag);
    }
}
