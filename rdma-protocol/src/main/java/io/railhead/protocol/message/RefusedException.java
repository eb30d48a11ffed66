package io.railhead.protocol.message;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.Locale;

/** A refusal by the gateway. */
public final class RefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    private final Refusal reason;

    public RefusedException(Refusal reason) {
        super("the gateway refused: " + reason.name().toLowerCase(Locale.ROOT));
        this.reason = requireNonNull(reason, "reason is null");
    }

    public Refusal reason() {
        return reason;
    }
}
