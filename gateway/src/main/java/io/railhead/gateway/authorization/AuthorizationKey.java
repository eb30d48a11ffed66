package io.railhead.gateway.authorization;

import io.railhead.cache.ObjectId;

/**
 * One decision's key: who, under which session token, may do what to which object. HeadObject asks
 * for the same permission as GetObject, so that is READ, but of objects that more than that guards.
 *
 * @param principal "" for anonymous
 * @param accessKey the key that signed, "" for anonymous
 * @param sessionToken "" where there is none
 */
public record AuthorizationKey(String principal, String accessKey, String sessionToken,
        Action action,
        ObjectId object) {

    /** What was allowed. */
    public enum Action {
        READ,
        DESCRIBE
    }

    /** The lesser one, to the same. */
    public AuthorizationKey toDescribe() {
        return new AuthorizationKey(principal, accessKey, sessionToken, Action.DESCRIBE, object);
    }
}
