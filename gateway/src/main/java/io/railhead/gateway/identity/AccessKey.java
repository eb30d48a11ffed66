package io.railhead.gateway.identity;

import org.jspecify.annotations.Nullable;

/**
 * A key pair that a client signs with.
 *
 * @param session the role session that the pair was made for; null for a pair of the file
 */
public record AccessKey(String id, Secret secret, @Nullable Secret sessionToken,
        @Nullable RoleSession session) {

    public AccessKey(String id, Secret secret, @Nullable Secret sessionToken) {
        this(id, secret, sessionToken, null);
    }

    /** Returns the id of the role session, which is no secret; "" for a pair of the file. */
    public String sessionId() {
        return session == null ? "" : id;
    }

    /**
     * Returns the name that permissions are remembered by: a session that is renewed under the same
     * role keeps them.
     */
    public String grantee() {
        return session == null ? id : session.roleName();
    }

    /** Returns the token that permissions are remembered by; "" if there is none. */
    public String granteeToken() {
        return session != null || sessionToken == null ? "" : sessionToken.reveal();
    }
}
