package io.railhead.gateway.request;

import io.railhead.gateway.identity.AccessKey;
import io.railhead.gateway.identity.RoleSession;
import io.railhead.gateway.s3.sigv4.Authentication;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * The sender of a request and its address, as policies see them.
 *
 * @param principal "" for a request that is not signed
 * @param tenant the principal's; "" for a request that is not signed
 * @param source the TCP peer's address, or that of the session's opener; null if there is none
 * @param secure whether the request came over TLS
 * @param session the role session that signed; null if a static key did, or none
 * @param sessionId the session's {@link AccessKey#sessionId}; "" for none
 */
public record RequestSource(String principal, String tenant, @Nullable InetAddress source,
        boolean secure, @Nullable RoleSession session, String sessionId) {

    /** @param source an address literal; what is none counts as no address */
    public static RequestSource of(String principal, String tenant, @Nullable String source,
            boolean secure) {
        return new RequestSource(principal, tenant, literal(source), secure, null, "");
    }

    /**
     * A sender that nobody knows yet.
     *
     * @param source an address literal; what is none counts as no address
     */
    public static RequestSource anonymous(@Nullable String source, boolean secure) {
        return of("", "", source, secure);
    }

    /** The same address, and the principal that signed. */
    public RequestSource as(Authentication authentication) {
        return new RequestSource(authentication.principalName(), authentication.tenant(), source,
                secure, authentication.session(), sessionId(authentication));
    }

    /** Returns the id of the role session that signed; "" for none. */
    public static String sessionId(Authentication authentication) {
        return authentication instanceof Authentication.Known known
                ? known.key().sessionId()
                : "";
    }

    /** Returns the address as text; "" if there is none. */
    public String address() {
        return source == null ? "" : source.getHostAddress();
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
