package io.railhead.protocol.message;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The reason why a session is over. The codes belong to the protocol and never change. */
public enum EndReason {
    /** The peer sent BYE, or its connection broke. */
    PEER_GONE(1),
    /** The principal's credential was withdrawn. */
    REVOKED(2),
    SHUTTING_DOWN(3),
    /** The peer was silent for three times the keep-alive. */
    SILENT(4),
    /** A message was malformed or out of order, or there were more requests than credits. */
    PROTOCOL(5),
    /** The peer's memory was not accessible as registered. */
    ACCESS(6),
    /** Transfers could only be stopped by ending the session. */
    FENCED(7),
    /** The adapter or its port failed. */
    UNAVAILABLE(8);

    private final int code;

    EndReason(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    /** Returns the name in the code of an answer. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static @Nullable EndReason findByCode(int code) {
        for (EndReason reason : values()) {
            if (reason.code == code) {
                return reason;
            }
        }
        return null;
    }
}
