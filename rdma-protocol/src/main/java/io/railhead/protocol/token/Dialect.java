package io.railhead.protocol.token;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One family of S3-over-RDMA clients: how it asks, and how it must be told no. All are told yes
 * alike, by {@link DialectReply}. Immutable; any thread.
 */
public interface Dialect {

    /** As metrics name it. */
    String name();

    /**
     * What these headers ask for in this dialect; null if nothing in them is of it.
     *
     * @param header a request header's value by lower-case name, or null
     */
    @Nullable
    Recognition recognise(Function<String, @Nullable String> header);

    /** How this family is told that there will be no RDMA for this request. */
    Decline decline(TokenOperation tokenOperation);
}
