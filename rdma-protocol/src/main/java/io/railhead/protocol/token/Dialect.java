package io.railhead.protocol.token;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One family of S3-over-RDMA clients: the form of its tokens, and the form of a decline.
 * {@link DialectReply} is the form of success for all families. Immutable; any thread.
 */
public interface Dialect {

    /** Returns the name in metrics. */
    String name();

    /**
     * Recognises this dialect's request headers; null if there are none.
     *
     * @param header returns a request header's value by lower-case name, or null
     */
    @Nullable
    Recognition recognise(Function<String, @Nullable String> header);

    /** Returns this family's form of a decline. */
    Decline decline(TokenOperation tokenOperation);
}
