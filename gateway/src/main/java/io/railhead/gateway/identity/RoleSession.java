package io.railhead.gateway.identity;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.gateway.s3.Digests;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One assumption of a role: the facts that the session's credentials carry, sealed, so that no
 * gateway stores them.
 *
 * @param role the name of a {@link Role}
 * @param issuer the {@link #hash} of the role's issuer, which is shorter than its name
 * @param name the caller's {@code RoleSessionName}
 * @param subject the token's {@code sub}
 * @param issuedAt in whole seconds, as is {@code expiresAt}
 * @param claims by path, those alone that the role names
 * @param policy the caller's session policy as JSON, which narrows the site's; null if there is
 *            none
 */
public record RoleSession(String role, long issuer, String name, String subject, Instant issuedAt,
        Instant expiresAt, Map<String, String> claims, @Nullable String policy) {

    public RoleSession {
        claims = Map.copyOf(claims);
    }

    /** Returns what stands for an issuer's name. */
    public static long hash(String issuer) {
        return ByteBuffer.wrap(Digests.sha256().digest(issuer.getBytes(UTF_8))).getLong();
    }

    /** Returns whether it has expired; allocates nothing. */
    public boolean isOverAt(long epochMillis) {
        return epochMillis >= expiresAt.getEpochSecond() * 1000;
    }

    /** Returns the name by which policies allow every session of the role. */
    public String roleName() {
        return Role.PREFIX + role;
    }
}
