package io.railhead.gateway.s3.sigv4;

import io.railhead.backend.Headers;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.identity.Identity;
import io.railhead.gateway.identity.RoleSession;
import io.railhead.gateway.identity.Secret;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.protocol.message.SigningKey;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Verifies SigV4 by header and by query. Any thread; never blocks.
 *
 * <p> The client may choose the region in the scope, since the gateway fronts stores of many
 * regions; the signature covers it. See "Authenticating Requests (AWS Signature Version 4)" in the
 * Amazon S3 API reference.
 */
public final class Authenticator implements RequestAuthenticator {
    private static final int MAX_PARAMETERS = 512;
    private static final Duration MAX_SKEW = Duration.ofMinutes(15);

    private final CredentialStore credentials;
    private final SigningKeys signingKeys = new SigningKeys();
    private final @Nullable SigV2 sigV2;
    private final String service;

    public Authenticator(CredentialStore credentials) {
        this(credentials, null);
    }

    /** @param sigV2 null if SigV2 signatures are refused */
    public Authenticator(CredentialStore credentials, @Nullable SigV2 sigV2) {
        this(credentials, sigV2, SignatureScope.S3);
    }

    private Authenticator(CredentialStore credentials, @Nullable SigV2 sigV2, String service) {
        this.credentials = credentials;
        this.sigV2 = sigV2;
        this.service = service;
    }

    /** Returns a verifier of requests to the Security Token Service. */
    public static Authenticator ofSts(CredentialStore credentials) {
        return new Authenticator(credentials, null, "sts");
    }

    @Override
    public Authentication authenticate(RequestHead head, Query query, Instant now) {
        return authenticate(head, query, now, new SignatureMemory());
    }

    @Override
    public Authentication authenticate(RequestHead head, Query query, Instant now,
            SignatureMemory memory) {
        if (query.size() > MAX_PARAMETERS) {
            throw new S3Refusal(S3Error.INVALID_URI, "The query has too many parameters.");
        }
        String authorization = authorization(head);
        boolean olderByQuery = query.has(SigV2.SIGNATURE) && query.has(SigV2.KEY);
        requireOneMechanism(query, authorization, olderByQuery);
        if (olderByQuery || (authorization != null && authorization.startsWith("AWS "))) {
            if (sigV2 == null) {
                throw unsupportedMechanism();
            }
            return sigV2.authenticate(head, query, authorization, now);
        }
        SignatureInput signatureInput = signatureInput(head, query, authorization, memory);
        if (signatureInput == null) {
            return new Authentication.Anonymous();
        }
        Identity identity = requireIdentity(credentials, signatureInput.accessKeyId(),
                signatureInput.sessionToken(), now);
        requireInTime(signatureInput, now);
        SigningKey key = memory.signingKey(signingKeys, identity.key(), signatureInput.scope());
        requireSignature(head, query, signatureInput, key);
        return new Authentication.Signed(identity.principal(), identity.key(),
                signatureInput.scope(),
                signatureInput.signature(), signatureInput.signedHeaders(),
                signatureInput.presigned(),
                signatureInput.signedAt(), signatureInput.payload(), key);
    }

    private static void requireOneMechanism(Query query, @Nullable String authorization,
            boolean olderByQuery) {
        if ((authorization != null && (isInQuery(query) || olderByQuery))
                || (isInQuery(query) && olderByQuery)) {
            throw new S3Refusal(S3Error.INVALID_ARGUMENT,
                    "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter,"
                            + " Signature query string parameter or the Authorization header"
                            + " should be specified");
        }
    }

    private static boolean isInQuery(Query query) {
        return query.has(PresignedQuery.ALGORITHM)
                || query.has(PresignedQuery.SIGNATURE);
    }

    private @Nullable SignatureInput signatureInput(RequestHead head, Query query,
            @Nullable String authorization, SignatureMemory memory) {
        if (authorization != null) {
            return AuthorizationHeader.parse(authorization, head.headers(), service, memory);
        }
        return isInQuery(query)
                ? PresignedQuery.parse(query, head.headers(), service)
                : null;
    }

    private static @Nullable String authorization(RequestHead head) {
        String[] found = new String[1];
        head.headers().forEach((name, value) -> {
            if (name.equalsIgnoreCase("authorization")) {
                if (found[0] != null) {
                    throw new S3Refusal(S3Error.AUTHORIZATION_HEADER_MALFORMED,
                            "The authorization header must not appear twice.");
                }
                found[0] = value;
            }
        });
        return found[0];
    }

    /** Returns the owner of an access key whose session token, if it has one, is this. */
    static Identity requireIdentity(CredentialStore credentials, String accessKeyId,
            @Nullable String token, Instant now) {
        Identity identity = credentials.find(accessKeyId, token);
        if (identity == null) {
            throw CredentialStore.isOfSession(accessKeyId)
                    ? new S3Refusal(S3Error.INVALID_TOKEN, "The provided token is malformed or"
                            + " otherwise not valid: its session has been revoked, its role or the"
                            + " session keys have changed, or it was never this gateway's.")
                    : new S3Refusal(S3Error.INVALID_ACCESS_KEY_ID);
        }
        RoleSession session = identity.key().session();
        if (session == null) {
            requireToken(identity.key().sessionToken(), token);
        } else if (session.isOverAt(now.toEpochMilli())) {
            throw new S3Refusal(S3Error.EXPIRED_TOKEN);
        }
        return identity;
    }

    /** A static key's token; a session was found by its own. */
    private static void requireToken(@Nullable Secret known, @Nullable String token) {
        if (known == null ? token != null : token == null || !known.matches(token)) {
            throw new S3Refusal(S3Error.INVALID_TOKEN);
        }
    }

    private static void requireInTime(SignatureInput signatureInput, Instant now) {
        boolean tooNew = signatureInput.signedAt().isAfter(now.plus(MAX_SKEW));
        if (!signatureInput.presigned()) {
            if (tooNew || signatureInput.signedAt().isBefore(now.minus(MAX_SKEW))) {
                throw new S3Refusal(S3Error.REQUEST_TIME_TOO_SKEWED);
            }
            return;
        }
        if (tooNew) {
            throw new S3Refusal(S3Error.ACCESS_DENIED, "Request is not valid yet");
        }
        if (now.isAfter(signatureInput.signedAt().plusSeconds(signatureInput.expiresSeconds()))) {
            throw new S3Refusal(S3Error.ACCESS_DENIED, "Request has expired");
        }
    }

    /** Accepts any canonical form that names the same request: clients and stores differ in it. */
    private static void requireSignature(RequestHead head, Query query,
            SignatureInput signatureInput,
            SigningKey key) {
        boolean holds = holds(head.headers(), head, query, signatureInput, key);
        if (!holds && head.hostField() != null) {
            holds = holds(head.headers().toBuilder().set("host", head.hostField()).build(), head,
                    query, signatureInput, key);
        }
        if (!holds) {
            throw new S3Refusal(S3Error.SIGNATURE_DOES_NOT_MATCH);
        }
    }

    private static boolean holds(Headers headers, RequestHead head, Query query,
            SignatureInput signatureInput, SigningKey key) {
        return CanonicalRequest.anyForm(head, query, headers, signatureInput,
                form -> holds(signatureInput, form, key));
    }

    private static boolean holds(SignatureInput signatureInput, SignedBytes form, SigningKey key) {
        form.toStringToSign(signatureInput.date(), signatureInput.scope());
        return form.haveSignature(signatureInput.signature(), key);
    }

    static S3Refusal unsupportedMechanism() {
        return new S3Refusal(S3Error.INVALID_REQUEST,
                "The authorization mechanism you have provided is not supported."
                        + " Please use AWS4-HMAC-SHA256.");
    }
}
