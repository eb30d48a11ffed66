package io.railhead.client;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** One-sided delivery is not available here and now; the message gives the reason. */
public final class NotAvailableException extends IOException {
    private static final long serialVersionUID = 1L;

    public NotAvailableException(String why) {
        this(why, null);
    }

    NotAvailableException(String why, @Nullable Throwable cause) {
        super(why.startsWith("not available: ") ? why : "not available: " + why, cause);
    }
}
