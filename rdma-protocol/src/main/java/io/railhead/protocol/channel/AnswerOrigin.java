package io.railhead.protocol.channel;

/** The origin of a response's bytes. The codes belong to the protocol and never change. */
public enum AnswerOrigin {
    /** The cache was not involved. */
    NONE(0),
    HIT(1),
    MISS(2),
    /** The object was cached, and the store confirmed it. */
    REVALIDATED(3),
    /** The object was cached, and the store was unavailable. */
    STALE(4);

    private static final AnswerOrigin[] BY_CODE = {NONE, HIT, MISS, REVALIDATED, STALE};

    private final int code;

    AnswerOrigin(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }

    static boolean isCode(int code) {
        return code >= 0 && code < BY_CODE.length;
    }

    static AnswerOrigin ofCode(int code) {
        return BY_CODE[code];
    }
}
