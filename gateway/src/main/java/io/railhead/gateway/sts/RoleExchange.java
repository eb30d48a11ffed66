package io.railhead.gateway.sts;

import com.nimbusds.jwt.SignedJWT;
import io.railhead.gateway.authorization.SessionPolicy;
import io.railhead.gateway.config.GatewayConfig.WebIdentity;
import io.railhead.gateway.identity.AccessKey;
import io.railhead.gateway.identity.ClaimException;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.identity.Role;
import io.railhead.gateway.identity.RoleSession;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.sts.StsRefusal.Code;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * {@code AssumeRoleWithWebIdentity}: a token of a known issuer, whose claims satisfy the role,
 * becomes credentials of a session. Any thread; blocks while an issuer's keys are fetched.
 */
final class RoleExchange {
    /** AWS's limits, in characters. */
    private static final int MAX_TOKEN = 20_000;
    private static final int MAX_POLICY = 2048;
    private static final int MAX_ARN = 2048;
    private static final int MAX_SUBJECT = 255;
    /** Leaves room for the head of a request that carries the session. */
    private static final int MAX_SESSION_TOKEN = 6144;
    private static final Duration SHORTEST = Duration.ofMinutes(15);
    private static final Duration USUAL = Duration.ofHours(1);
    private static final Pattern ARN = Pattern
            .compile("arn:aws[a-z-]*:iam::([0-9]{12}):role/(?:[!-~]*/)?([^/]+)");
    private static final Pattern SESSION_NAME = Pattern.compile("[A-Za-z0-9_+=,.@-]{2,64}");

    private final CredentialStore credentials;
    private final Map<String, TokenVerifier> verifiers = new TreeMap<>();
    private final InstantSource clock;

    /** The credentials of a new session, and what the answer says about it. */
    record Exchanged(AccessKey key, RoleSession session, Principal principal, String account,
            TokenVerifier.Verified token) {}

    RoleExchange(CredentialStore credentials, WebIdentity webIdentity, InstantSource clock) {
        this.credentials = credentials;
        this.clock = clock;
        webIdentity.issuers()
                .forEach((name, issuer) -> verifiers.put(name, new TokenVerifier(issuer)));
    }

    private record RoleArn(String account, String role) {

        /** A bare name is taken too: the gateway has no accounts. */
        static RoleArn parse(String text) {
            Matcher matcher = ARN.matcher(text);
            if (matcher.matches()) {
                return new RoleArn(matcher.group(1), matcher.group(2));
            }
            if (text.indexOf(':') >= 0 || text.indexOf('/') >= 0 || text.length() > MAX_ARN) {
                throw invalid("RoleArn must be arn:aws:iam::000000000000:role/NAME, or the name");
            }
            return new RoleArn(Sts.ACCOUNT, text);
        }
    }

    /** Throws {@link StsRefusal} unless the token may assume the role. */
    Exchanged exchange(Query call) {
        RoleArn arn = RoleArn.parse(required(call, "RoleArn"));
        String name = required(call, "RoleSessionName");
        if (!SESSION_NAME.matcher(name).matches()) {
            throw invalid("RoleSessionName must be 2 to 64 letters, digits or _+=,.@-");
        }
        call.forEachRaw((parameter, _) -> requireServed(Query.decode(parameter)));
        Duration wanted = duration(call);
        TokenVerifier.Verified token = verified(required(call, "WebIdentityToken"));
        Role role = credentials.findRole(arn.role());
        try {
            if (role == null || !role.issuer().equals(token.issuer())) {
                throw denied("there is no role " + arn.role() + " for tokens of "
                        + token.issuer(), null);
            }
            // Read after the token: who has none has nothing parsed.
            return session(arn, role, name, token, policy(call), wanted);
        } catch (StsRefusal e) {
            throw e.about(token, role == null ? "" : role.name());
        }
    }

    /** A policy that is not served would have narrowed the session, so it is not passed over. */
    private static void requireServed(String parameter) {
        for (String unknown : List.of("ProviderId", "PolicyArns")) {
            if (parameter.startsWith(unknown)) {
                throw invalid(unknown + " is not served");
            }
        }
    }

    private Exchanged session(RoleArn arn, Role role, String name, TokenVerifier.Verified token,
            @Nullable String policy, @Nullable Duration wanted) {
        Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
        RoleSession session = new RoleSession(role.name(), RoleSession.hash(role.issuer()), name,
                token.subject(), now, now.plus(life(role, wanted)), claims(role, token), policy);
        Principal principal = credentials.principalOf(session);
        if (principal == null) {
            throw denied("sessions like this are revoked", null);
        }
        AccessKey key = credentials.seal(session);
        if (revealed(key).length() > MAX_SESSION_TOKEN) {
            throw new StsRefusal(Code.PACKED_POLICY_TOO_LARGE,
                    "Policy and claims together are too long for a session token.");
        }
        Objects.requireNonNull(verifiers.get(token.issuer())).use(token);
        return new Exchanged(key, session, principal, arn.account(), token);
    }

    static String revealed(AccessKey key) {
        return Objects.requireNonNull(key.sessionToken()).reveal();
    }

    private static Map<String, String> claims(Role role, TokenVerifier.Verified token) {
        try {
            return role.require(token.claims());
        } catch (ClaimException e) {
            throw denied(String.valueOf(e.getMessage()), e);
        }
    }

    private static Duration life(Role role, @Nullable Duration wanted) {
        if (wanted == null) {
            return USUAL.compareTo(role.maxSession()) < 0 ? USUAL : role.maxSession();
        }
        if (wanted.compareTo(role.maxSession()) > 0) {
            throw invalid("DurationSeconds must be at most " + role.maxSession().toSeconds()
                    + " for role " + role.name());
        }
        return wanted;
    }

    private TokenVerifier.Verified verified(String text) {
        if (text.length() > MAX_TOKEN) {
            throw invalid("WebIdentityToken must be at most " + MAX_TOKEN + " characters");
        }
        SignedJWT token = TokenVerifier.parse(text);
        TokenVerifier verifier = verifiers.get(issuer(token));
        if (verifier == null) {
            throw new StsRefusal(Code.INVALID_IDENTITY_TOKEN,
                    "No OpenIDConnect provider is configured for the token's issuer.");
        }
        TokenVerifier.Verified verified = verifier.verify(token);
        if (verified.subject().length() > MAX_SUBJECT) {
            throw new StsRefusal(Code.INVALID_IDENTITY_TOKEN, "The token's sub is too long.");
        }
        return verified;
    }

    /** Reads the issuer before the signature is verified, to find the keys to verify it with. */
    private static String issuer(SignedJWT token) {
        try {
            String issuer = token.getJWTClaimsSet().getIssuer();
            return issuer == null ? "" : issuer;
        } catch (ParseException e) {
            throw new StsRefusal(Code.INVALID_IDENTITY_TOKEN, "The token has no claims.", e);
        }
    }

    private static @Nullable String policy(Query call) {
        String policy = call.getSpaced("Policy");
        if (policy == null || policy.isEmpty()) {
            return null;
        }
        if (policy.length() > MAX_POLICY) {
            throw invalid("Policy must be at most " + MAX_POLICY + " characters");
        }
        try {
            SessionPolicy.require(policy);
            return policy;
        } catch (IllegalArgumentException e) {
            throw new StsRefusal(Code.MALFORMED_POLICY_DOCUMENT, String.valueOf(e.getMessage()),
                    e);
        }
    }

    private static @Nullable Duration duration(Query call) {
        String text = call.getSpaced("DurationSeconds");
        if (text == null) {
            return null;
        }
        try {
            Duration wanted = Duration.ofSeconds(Long.parseLong(text));
            if (wanted.compareTo(SHORTEST) >= 0) {
                return wanted;
            }
        } catch (NumberFormatException | ArithmeticException e) {
            // The message below says what is wrong.
        }
        throw invalid("DurationSeconds must be a number of at least " + SHORTEST.toSeconds());
    }

    private static String required(Query call, String name) {
        String value = call.getSpaced(name);
        if (value == null || value.isEmpty()) {
            throw invalid(name + " is missing");
        }
        return value;
    }

    private static StsRefusal invalid(String message) {
        return new StsRefusal(Code.VALIDATION_ERROR, message);
    }

    private static StsRefusal denied(String why, @Nullable Throwable cause) {
        String message = "Not authorized to perform sts:AssumeRoleWithWebIdentity: " + why;
        return cause == null
                ? new StsRefusal(Code.ACCESS_DENIED, message)
                : new StsRefusal(Code.ACCESS_DENIED, message, cause);
    }
}
