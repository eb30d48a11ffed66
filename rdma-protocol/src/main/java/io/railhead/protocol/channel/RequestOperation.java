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
    UPLOAD_PART(4),
    /** Returns which of many cache-only objects are held. */
    EXISTS(5),
    /** Returns how many of a list of cache-only objects are held before the first that is not. */
    PREFIX(6),
    /** Removes many cache-only objects by their keys. */
    DELETE(7),
    /** Removes cache-only objects whose keys begin with a prefix. */
    DELETE_PREFIX(8),
    /** Keeps many cache-only objects from being evicted, for a time. */
    LEASE(9),
    /** Counts a use of many cache-only objects, so that others are evicted first. */
    TOUCH(10),
    /** Returns how much memory the cache-only objects below a prefix take. */
    USAGE(11),
    /** Waits for cache-only objects below a prefix to be removed, and returns their keys. */
    REMOVALS(12);

    private static final RequestOperation[] BY_CODE = {GET, HEAD, PUT, UPLOAD_PART, EXISTS, PREFIX,
            DELETE, DELETE_PREFIX, LEASE, TOUCH,
            USAGE, REMOVALS};
    /** The highest code, which a gateway tells its clients when a session opens. */
    public static final int HIGHEST_CODE = BY_CODE.length;

    private final int code;

    RequestOperation(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    /** Returns whether the window's bytes are read and stored. */
    public boolean isWrite() {
        return this == PUT || this == UPLOAD_PART;
    }

    /** Returns whether bytes are moved between a window and an object. */
    public boolean hasWindow() {
        return this == GET || isWrite();
    }

    /** Returns whether several windows may take the place of one. */
    boolean mayHaveWindows() {
        return this == GET || this == PUT;
    }

    /** Returns whether the request names many objects by a prefix, and has no window. */
    public boolean isOfKeys() {
        return code >= EXISTS.code;
    }

    /** Returns whether objects are removed. */
    public boolean isRemoval() {
        return this == DELETE || this == DELETE_PREFIX;
    }

    /** Returns whether a {@link KeyBlock} names the objects. */
    public boolean hasKeyBlock() {
        return isOfKeys() && this != DELETE_PREFIX && this != USAGE && this != REMOVALS;
    }

    /** Returns whether the record says a number: a part's, or the milliseconds of a time. */
    boolean hasNumber() {
        return this == UPLOAD_PART || this == LEASE || this == REMOVALS;
    }

    static @Nullable RequestOperation findByCode(int code) {
        return code >= 1 && code <= BY_CODE.length ? BY_CODE[code - 1] : null;
    }
}
