package io.railhead.protocol.channel;

import org.jspecify.annotations.Nullable;

/** The operation of a request. The codes are the protocol's: never renumbered. */
public enum RequestOperation {
    /** The object's bytes, or a range of them, into the window. */
    GET(1),
    /** The object's metadata, in the answer's headers. */
    HEAD(2),
    /** An object of the window's bytes. */
    PUT(3),
    /** A part of a multipart upload of the window's bytes. */
    UPLOAD_PART(4);

    private static final RequestOperation[] BY_CODE = {GET, HEAD, PUT, UPLOAD_PART};

    private final int code;

    RequestOperation(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }

    /** Whether the window's bytes are read and stored. */
    public boolean isWrite() {
        return this == PUT || this == UPLOAD_PART;
    }

    static @Nullable RequestOperation findByCode(int code) {
        return code >= 1 && code <= BY_CODE.length ? BY_CODE[code - 1] : null;
    }
}
