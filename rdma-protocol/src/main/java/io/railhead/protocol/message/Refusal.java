package io.railhead.protocol.message;

import org.jspecify.annotations.Nullable;

/**
 * The reason why the gateway refused a message. The codes belong to the protocol and never change.
 */
public enum Refusal {
    /** No session with this id waits for its proof. */
    UNKNOWN_SESSION(1),
    /** The proof does not match the session's key. */
    BAD_PROOF(2),
    /** HELLO, PROOF or the descriptor did not come in time. */
    TOO_SLOW(3),
    /** Too many connections have not proved themselves yet. */
    BUSY(4),
    /** The session has its largest number of buffers. */
    TOO_MANY_BUFFERS(5),
    /** Length is zero, wraps around the address space, or exceeds the memory that was passed. */
    BAD_LENGTH(6),
    /** The descriptor is not a memfd sealed with F_SEAL_SHRINK. */
    NOT_SEALED(7),
    /** The memory could not be mapped. */
    CANNOT_MAP(8),
    /** The session has no buffer with this key. */
    UNKNOWN_KEY(9),
    /** A message was malformed or out of order. */
    PROTOCOL(10),
    /**
     * The session, or its principal in all sessions, has its largest number of registered bytes.
     */
    TOO_MANY_BYTES(11),
    /** The connection came by a GID that the gateway's configuration excludes. */
    WRONG_GID(12),
    /** The gateway may not, or cannot, attach to the peer's private memory. */
    NOT_ATTACHED(13);

    private final int code;

    Refusal(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    static @Nullable Refusal findByCode(int code) {
        for (Refusal refusal : values()) {
            if (refusal.code == code) {
                return refusal;
            }
        }
        return null;
    }
}
