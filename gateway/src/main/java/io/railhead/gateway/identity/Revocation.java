package io.railhead.gateway.identity;

import io.railhead.gateway.config.Globs;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One entry of {@code revoked:} in {@code credentials.yaml}. It ends the sessions that match every
 * pattern it has; null matches any.
 *
 * @param session a pattern of {@code RoleSessionName}
 * @param issuedBefore sessions issued from then on are not concerned
 */
record Revocation(@Nullable String role, @Nullable String principal, @Nullable String subject,
        @Nullable String session, @Nullable Instant issuedBefore) {

    boolean concerns(RoleSession other, String name) {
        return matches(role, other.role()) && matches(principal, name)
                && matches(subject, other.subject()) && matches(session, other.name())
                && (issuedBefore == null || other.issuedAt().isBefore(issuedBefore));
    }

    private static boolean matches(@Nullable String pattern, String text) {
        return pattern == null || Globs.matches(pattern, text);
    }
}
