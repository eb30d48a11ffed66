package io.railhead.gateway.request;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * The sender of a request and its address, as policies see them.
 *
 * @param principal "" for a request that is not signed
 * @param source the TCP peer's address, or that of the session's opener; null if there is none
 * @param secure whether the request came over TLS
 */
public record RequestSource(String principal, @Nullable InetAddress source, boolean secure) {

    /** @param source an address literal; any other text counts as no address */
    public static RequestSource of(String principal, @Nullable String source, boolean secure) {
        return new RequestSource(principal, literal(source), secure);
    }

    /** Returns the same source with the principal's name. */
    public RequestSource as(String name) {
        return new RequestSource(name, source, secure);
    }

    private static @Nullable InetAddress literal(@Nullable String address) {
        if (address == null) {
            return null;
        }
        try {
            int scope = address.indexOf('%');
            return InetAddress.ofLiteral(scope < 0 ? address : address.substring(0, scope));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
