package io.railhead.client;

import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.SdkHttpMethod;

/**
 * One range of one object.
 *
 * @param etag the version that the object's first part showed; null for the first part
 */
record PartRequest(ObjectName name, long offset, int bytes, @Nullable String etag) {

    Call call() {
        Call call = Call.to(SdkHttpMethod.GET, name)
                .header("Range",
                        "bytes=" + offset + "-" + (offset + bytes - 1));
        return etag == null ? call : call.header("If-Match", etag);
    }
}
