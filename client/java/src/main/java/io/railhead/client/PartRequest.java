package io.railhead.client;

import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.SdkHttpMethod;

/**
 * One range of one object.
 *
 * @param etag the required version; null for the current one
 * @param total the object's required size; negative if unknown
 */
record PartRequest(ObjectName name, long offset, int bytes, @Nullable String etag, long total) {
    static final long ANY = -1;

    /** Returns a request for the current version. */
    static PartRequest first(ObjectName name, int bytes) {
        return new PartRequest(name, 0, bytes, null, ANY);
    }

    /** Returns a request for the version of the first part. */
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
