package io.railhead.backend;

import org.jspecify.annotations.Nullable;

/** The requests that the gateway makes itself, in contrast to relayed ones. */
public final class Requests {
    private static final Headers CHECKSUM_MODE = Headers.builder()
            .add("x-amz-checksum-mode", "ENABLED")
            .build();

    private Requests() {}

    /**
     * Returns a GET of some bytes, pinned to a version if it is known.
     *
     * @param ifMatch the ETag of the required version, as the store wrote it; null for the current
     *            version
     */
    public static BackendRequest rangedGet(Target target, Caller caller, long offset, long length,
            @Nullable String ifMatch) {
        if (offset < 0 || length <= 0) {
            throw new IllegalArgumentException(
                    "need offset >= 0 and length > 0: " + offset + ", " + length);
        }
        Headers.Builder headers = Headers.builder()
                .add("Range",
                        "bytes=" + offset + "-" + (offset + length - 1));
        if (ifMatch != null) {
            headers.add("If-Match", ifMatch);
        }
        return get(target, caller, headers.build());
    }

    public static BackendRequest get(Target target, Caller caller, Headers headers) {
        return new BackendRequest("GET", target, headers, new Payload.Empty(), caller, null);
    }

    /** Returns a HEAD that requests stored checksums too: stores do not send them otherwise. */
    public static BackendRequest head(Target target, Caller caller) {
        return new BackendRequest("HEAD", target, CHECKSUM_MODE, new Payload.Empty(), caller, null);
    }

    public static BackendRequest put(Target target, Caller caller, Headers headers,
            Payload payload) {
        return new BackendRequest("PUT", target, headers, payload, caller, null);
    }

    public static BackendRequest delete(Target target, Caller caller) {
        return new BackendRequest("DELETE", target, Headers.NONE, new Payload.Empty(), caller,
                null);
    }
}
