package io.railhead.gateway.audit;

import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.identity.Secret;
import io.railhead.gateway.s3.Query;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The key by which a refused sender called itself. It is never written: the stream shows its owner.
 *
 * @param sessionToken null if the sender sent none
 */
public record Claim(String accessKeyId, @Nullable Secret sessionToken) {
    private static final String CREDENTIAL = "Credential=";

    /**
     * Returns what a request's signature names; null for none.
     *
     * @param header finds a header by its name
     * @param query null if it was not parsed
     */
    public static @Nullable Claim of(Function<String, @Nullable String> header,
            @Nullable Query query) {
        String authorization = header.apply("authorization");
        if (authorization != null) {
            int at = authorization.indexOf(CREDENTIAL);
            return at < 0
                    ? null
                    : of(authorization.substring(at + CREDENTIAL.length()),
                            header.apply("x-amz-security-token"));
        }
        String credential = query == null ? null : query.get("X-Amz-Credential");
        return query == null || credential == null
                ? null
                : of(credential, query.get("X-Amz-Security-Token"));
    }

    private static @Nullable Claim of(String credential, @Nullable String token) {
        int end = credential.indexOf('/');
        return end < 0
                ? null
                : new Claim(credential.substring(0, end), token == null ? null : new Secret(token));
    }

    boolean isOfSession() {
        return CredentialStore.isOfSession(accessKeyId);
    }
}
