package io.railhead.gateway.authorization;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import io.railhead.gateway.identity.RoleSession;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Applies the site's policy file, if there is one, and the policy of the sender's role session, if
 * it has one: each must allow a request before anything is served or asked of a store. The store's
 * own permissions come in addition. Any thread.
 */
public final class AccessControl {
    /** More than a rack has sessions with a policy of their own. */
    private static final int MAX_SESSION_POLICIES = 4096;

    private final @Nullable PolicyFile policy;
    private final Metrics metrics;
    /** By a session policy's text. */
    private final LoadingCache<String, Policy> sessionPolicies = Caffeine.newBuilder()
            .maximumSize(MAX_SESSION_POLICIES)
            .build(SessionPolicy::read);

    /** @param policy null if the store alone decides */
    public AccessControl(@Nullable PolicyFile policy, Metrics metrics) {
        this.policy = policy;
        this.metrics = metrics;
    }

    /**
     * An object that one DeleteObjects request names.
     *
     * @param versionId null if none is named
     */
    public record Deletion(String key, @Nullable String versionId) {}

    /** Throws {@code S3Refusal} unless the policy allows everything that the request does. */
    public void require(S3Request request) {
        if (decidesNothingFor(request.asker())) {
            return;
        }
        List<Access> wanted = RequestedAccess.of(request);
        if (wanted == null) {
            throw denied("unknown", "The gateway has a policy, and this request is none that it"
                    + " could be held against.");
        }
        for (Access access : wanted) {
            require(request.asker(), access);
        }
    }

    /**
     * Returns whether {@link #require} would pass. Only a pass is counted: after a refusal the
     * request is checked again by {@link #require}.
     */
    public boolean allows(S3Request request) {
        if (decidesNothingFor(request.asker())) {
            return true;
        }
        List<Access> wanted = RequestedAccess.of(request);
        if (wanted == null
                || !wanted.stream().allMatch(access -> allows(request.asker(), access))) {
            return false;
        }
        wanted.forEach(access -> decided(access.action().policyName(), true));
        return true;
    }

    /**
     * Returns whether the policy allows deleting one object of a DeleteObjects request. Some stores
     * read an empty version id as the current version, so both are checked.
     */
    public boolean allowsDeletion(S3Request request, Deletion deletion) {
        return allowsDeletion(request.asker(), String.valueOf(request.address().bucket()),
                deletion);
    }

    /** Returns whether the policy allows deleting one object of a bucket. */
    public boolean allowsDeletion(RequestSource asker, String bucket, Deletion deletion) {
        if (decidesNothingFor(asker)) {
            return true;
        }
        String versionId = deletion.versionId();
        boolean ofCurrent = versionId == null || versionId.isEmpty();
        String key = deletion.key();
        boolean allowed = (!ofCurrent
                || allows(asker, Access.toObject(S3Action.DELETE_OBJECT, bucket, key)))
                && (versionId == null || allows(asker,
                        Access.toObject(S3Action.DELETE_OBJECT_VERSION, bucket, key)));
        decided((ofCurrent ? S3Action.DELETE_OBJECT : S3Action.DELETE_OBJECT_VERSION).policyName(),
                allowed);
        return allowed;
    }

    /**
     * Throws {@code S3Refusal} unless an upload by a form is allowed.
     *
     * @param key the key that the upload writes
     * @param fields names in lower case
     */
    public void requireUpload(S3Request request, String key, Set<String> fields) {
        if (decidesNothingFor(request.asker())) {
            return;
        }
        Set<S3Action> wanted = EnumSet.of(S3Action.PUT_OBJECT);
        if (fields.contains("acl") || fields.stream()
                .anyMatch(
                        field -> field.startsWith("x-amz-grant-"))) {
            wanted.add(S3Action.PUT_OBJECT_ACL);
        }
        if (fields.contains("tagging")) {
            wanted.add(S3Action.PUT_OBJECT_TAGGING);
        }
        if (fields.contains("x-amz-object-lock-mode")
                || fields.contains("x-amz-object-lock-retain-until-date")) {
            wanted.add(S3Action.PUT_OBJECT_RETENTION);
        }
        if (fields.contains("x-amz-object-lock-legal-hold")) {
            wanted.add(S3Action.PUT_OBJECT_LEGAL_HOLD);
        }
        String bucket = String.valueOf(request.address().bucket());
        wanted.forEach(action -> require(request.asker(),
                Access.toObject(action, bucket, key)));
    }

    private boolean decidesNothingFor(RequestSource requestSource) {
        return policy == null && sessionPolicy(requestSource) == null;
    }

    /** Returns the text of the session's own policy; null if it has none. */
    private static @Nullable String sessionPolicy(RequestSource requestSource) {
        RoleSession session = requestSource.session();
        return session == null ? null : session.policy();
    }

    private void require(RequestSource requestSource, Access access) {
        if (access.isTooLong()) {
            throw new S3Refusal(S3Error.KEY_TOO_LONG);
        }
        if (access.isAmbiguous()) {
            throw denied("unknown", "The gateway has a policy, and a key with a segment of dots"
                    + " could mean another's to the store.");
        }
        if (!isAllowed(requestSource, access)) {
            boolean bySite = policy != null && !allows(policy.current(), requestSource, access);
            throw denied(access.action().policyName(), (bySite
                    ? "The gateway's policy"
                    : "The session's own policy") + " does not allow "
                    + access.action().policyName() + " on this resource.");
        }
        decided(access.action().policyName(), true);
    }

    private void decided(String action, boolean isAllowed) {
        metrics.authorizations.labels("policy", isAllowed ? "allowed" : "denied").inc();
        if (!isAllowed) {
            metrics.policyDenied.labels(action).inc();
        }
    }

    private S3Refusal denied(String action, String detail) {
        decided(action, false);
        return new S3Refusal(S3Error.ACCESS_DENIED, detail);
    }

    /** Returns the access of a plain GET, to be kept for names that are read often. */
    public static Access reading(String bucket, String key) {
        return Access.toObject(S3Action.GET_OBJECT, bucket, key);
    }

    /** Returns whether a plain GET is allowed; allocates nothing. */
    public boolean allows(RequestSource requestSource, Access reading) {
        return decidesNothingFor(requestSource)
                || (!reading.isAmbiguous() && isAllowed(requestSource, reading));
    }

    /** The session's policy narrows the site's: both must allow. */
    private boolean isAllowed(RequestSource requestSource, Access access) {
        String narrowing = sessionPolicy(requestSource);
        return !access.isTooLong()
                && (policy == null || allows(policy.current(), requestSource, access))
                && (narrowing == null
                        || allows(sessionPolicies.get(narrowing), requestSource, access));
    }

    /** Checks every reading of the key that a store could have. */
    private static boolean allows(Policy policy, RequestSource requestSource, Access access) {
        Access asPath = access.asPath();
        return policy.allows(requestSource, access)
                && (asPath == null || policy.allows(requestSource, asPath));
    }
}
