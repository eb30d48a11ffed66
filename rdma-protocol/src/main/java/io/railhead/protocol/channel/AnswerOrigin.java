package io.railhead.protocol.channel;

/** The origin of a response's bytes. The codes are the protocol's: never renumbered. */
public enum AnswerOrigin {
    /** The cache had no part in it. */
    NONE(0),
    HIT(1),
    MISS(2),
    /** Held, and the store said that it is current. */
    REVALIDATED(3),
    /** Held, and served since the store could not be asked. */
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
