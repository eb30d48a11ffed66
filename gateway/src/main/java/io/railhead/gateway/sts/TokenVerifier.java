package io.railhead.gateway.sts;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.jwk.source.RateLimitReachedException;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import com.nimbusds.jwt.proc.ExpiredJWTException;
import io.railhead.gateway.config.GatewayConfig.Issuer;
import io.railhead.gateway.identity.Claims;
import io.railhead.gateway.sts.StsRefusal.Code;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;

/**
 * Verifies the tokens of one issuer: signature, issuer, audience and times. Keys are fetched when
 * they are needed first, so that an issuer that is down delays no start. They are kept for minutes,
 * fetched anew for a key id that is not among them, and outlast an issuer that is down. Any thread;
 * blocks while keys are fetched.
 */
final class TokenVerifier {
    private static final Times USUAL = new Times(Duration.ofMinutes(5), Duration.ofSeconds(10));
    private static final long REFRESH_MILLIS = Duration.ofSeconds(20).toMillis();
    private static final long OUTAGE_MILLIS = Duration.ofHours(24).toMillis();
    /** The exchanges of one issuer's tokens at a time: one that stalls stops no other's. */
    private static final int MAX_CALLS = 16;
    /** The tokens that are remembered as used; a flood must come from the issuer itself. */
    private static final int MAX_USED = 1 << 20;
    private static final Duration LONGEST_USED = Duration.ofDays(1);

    private final Issuer issuer;
    private final Semaphore calls = new Semaphore(MAX_CALLS);
    private final DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();
    /** By {@code jti}, where tokens are used once. */
    private final Cache<String, Boolean> used = Caffeine.newBuilder()
            .maximumSize(MAX_USED)
            .expireAfterWrite(LONGEST_USED.multipliedBy(2))
            .build();

    /**
     * The facts of a valid token.
     *
     * @param id the {@code jti}; "" if it does not matter
     */
    record Verified(String issuer, String subject, String audience, String id, Claims claims) {}

    /**
     * The times of an issuer's keys.
     *
     * @param kept the age at which they are fetched anew
     * @param betweenFetches tokens with made-up key ids cannot have them fetched more often
     */
    record Times(Duration kept, Duration betweenFetches) {}

    TokenVerifier(Issuer issuer) {
        this(issuer, USUAL);
    }

    TokenVerifier(Issuer issuer, Times times) {
        this.issuer = issuer;
        JWKSource<SecurityContext> keys = JWKSourceBuilder.create(new IssuerKeys(issuer))
                .cache(times.kept().toMillis(), REFRESH_MILLIS)
                .refreshAheadCache(false)
                .rateLimited(times.betweenFetches().toMillis())
                .retrying(true)
                .outageTolerant(OUTAGE_MILLIS)
                .build();
        processor.setJWSKeySelector(new JWSVerificationKeySelector<>(issuer.algorithms()
                .stream()
                .map(JWSAlgorithm::parse)
                .collect(Collectors.toUnmodifiableSet()), keys));
        Set<String> required = new HashSet<>(Set.of("sub", "exp"));
        if (issuer.singleUse()) {
            required.add("jti");
        }
        DefaultJWTClaimsVerifier<SecurityContext> claims = new DefaultJWTClaimsVerifier<>(
                new JWTClaimsSet.Builder().issuer(issuer.issuer()).build(), required);
        claims.setMaxClockSkew((int) issuer.clockSkew().toSeconds());
        processor.setJWTClaimsSetVerifier(claims);
    }

    /** Throws {@link StsRefusal} for a token that must not be exchanged. */
    Verified verify(SignedJWT token) {
        if (!calls.tryAcquire()) {
            throw new StsRefusal(Code.THROTTLING, "Rate exceeded");
        }
        try {
            JWTClaimsSet claims = claims(token);
            requireTimes(claims);
            return new Verified(issuer.issuer(), claims.getSubject(),
                    requireAudience(claims.getAudience()),
                    issuer.singleUse() ? claims.getJWTID() : "",
                    new Claims(claims.getClaims()));
        } finally {
            calls.release();
        }
    }

    /** Marks a token as exchanged; throws {@link StsRefusal} if it may not be again. */
    void use(Verified token) {
        if (issuer.singleUse() && used.asMap().putIfAbsent(token.id(), true) != null) {
            throw new StsRefusal(Code.INVALID_IDENTITY_TOKEN,
                    "The token has been exchanged before, and may be exchanged once.");
        }
    }

    private JWTClaimsSet claims(SignedJWT token) {
        try {
            return processor.process(token, null);
        } catch (ExpiredJWTException e) {
            throw new StsRefusal(Code.EXPIRED_TOKEN, "The token has expired.", e);
        } catch (BadJOSEException e) {
            throw new StsRefusal(Code.INVALID_IDENTITY_TOKEN, "The token is not valid: "
                    + e.getMessage() + " (this issuer's algorithms are "
                    + String.join(", ", issuer.algorithms()) + ")", e);
        } catch (RateLimitReachedException e) {
            throw new StsRefusal(Code.IDP_COMMUNICATION_ERROR, "The keys of " + issuer.issuer()
                    + " were asked for a moment ago: they could not be had, or the token's is not"
                    + " among them.", e);
        } catch (KeySourceException e) {
            throw new StsRefusal(Code.IDP_COMMUNICATION_ERROR, "The keys of " + issuer.issuer()
                    + " could not be had: " + e.getMessage(), e);
        } catch (JOSEException e) {
            throw new StsRefusal(Code.INVALID_IDENTITY_TOKEN, "The token could not be verified.",
                    e);
        }
    }

    /**
     * Requires what the library takes for present when it is null, and times that make sense: a
     * token from the future is an issuer's fault, or a forger's guess.
     */
    private void requireTimes(JWTClaimsSet claims) {
        if (claims.getSubject() == null || claims.getExpirationTime() == null
                || (issuer.singleUse() && claims.getJWTID() == null)) {
            throw new StsRefusal(Code.INVALID_IDENTITY_TOKEN,
                    "The token needs sub and exp, and jti if it may be exchanged once.");
        }
        Instant latest = Instant.now().plus(issuer.clockSkew());
        if (claims.getIssueTime() != null && claims.getIssueTime().toInstant().isAfter(latest)) {
            throw new StsRefusal(Code.INVALID_IDENTITY_TOKEN, "The token is not valid yet.");
        }
        if (issuer.singleUse()
                && claims.getExpirationTime().toInstant().isAfter(latest.plus(LONGEST_USED))) {
            throw new StsRefusal(Code.INVALID_IDENTITY_TOKEN,
                    "The token lives longer than a day, and may be exchanged once.");
        }
    }

    /** Checked here and not by the library, whose words repeat what the token says. */
    private String requireAudience(List<String> audiences) {
        return audiences.stream()
                .filter(issuer.audiences()::contains)
                .findFirst()
                .orElseThrow(() -> new StsRefusal(Code.INVALID_IDENTITY_TOKEN,
                        "The token's aud names none of this issuer's audiences here: "
                                + String.join(", ", issuer.audiences()) + "."));
    }

    /** Reads a signed token; one without a signature, or an encrypted one, is none. */
    static SignedJWT parse(String token) {
        try {
            return SignedJWT.parse(token);
        } catch (ParseException | IllegalArgumentException e) {
            throw new StsRefusal(Code.INVALID_IDENTITY_TOKEN, "The token is no signed JWT.", e);
        }
    }
}
