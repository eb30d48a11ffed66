package io.railhead.protocol.channel;

import org.jspecify.annotations.Nullable;

/** The operation of a request. The codes belong to the protocol and never change. */
public enum RequestOperation {
    /** Reads the object, or a range of it, into the window. */
    GET(1),
    /** Returns the object's metadata in the answer's headers. */
    HEAD(2),
    /** Stores the window's bytes as an object. */
    PUT(3),
    /** Stores the window's bytes as a part of a multipart upload. */
    UPLOAD_PART(4);

    private static final RequestOperation[] BY_CODE = {GET, HEAD, PUT, UPLOAD_PART};

    private final int code;

    RequestOperation(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }

    /** Returns whether the window's bytes are read and stored. */
    public boolean isWrite() {
        return this == PUT || this == UPLOAD_PART;
    }

    static @Nullable RequestOperation findByCode(int code) {
        return code >= 1 && code <= BY_CODE.length ? BY_CODE[code - 1] : null;
    }
}
