package io.railhead.rdma.verbs;

import static java.util.Objects.requireNonNull;

import io.railhead.rdma.channel.Ended;
import java.io.IOException;

/** The session is over; the gateway told why, and what became of its requests. */
public final class SessionEndedException extends IOException {
    private static final long serialVersionUID = 1L;

    private final transient Ended ended;

    SessionEndedException(Ended ended) {
        super("the session has ended: " + ended.reason());
        this.ended = requireNonNull(ended, "ended is null");
    }

    public Ended ended() {
        return ended;
    }
}
