package io.railhead.rdma.dialect;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The table of dialects. Every known token header is recognised; each is accepted or refused. */
public final class Dialects {

    private Dialects() {}

    /**
     * Looks for a token.
     *
     * @param header
     *            a request header's value by lower-case name, or null
     */
    public static Recognition recognise(Function<String, @Nullable String> header) {
        throw new UnsupportedOperationException();
    }
}
