package io.railhead.gateway.authorization;

import io.railhead.cache.ObjectId;

/**
 * The key of one decision: the principal, its session token, the action and the object. HeadObject
 * needs the same permission as GetObject, so both are READ. Only objects with further guards tell
 * the two apart.
 *
 * @param principal "" for anonymous
 * @param accessKey the key that signed, or the role of its session; "" for anonymous
 * @param sessionToken "" if there is none
 */
public record AuthorizationKey(String principal, String accessKey, String sessionToken,
        Action action,
        ObjectId object) {

    /** The permitted action. */
    public enum Action {
        READ,
        DESCRIBE
    }

    /** Returns the key for the lesser action on the same object. */
    public AuthorizationKey toDescribe() {
        return new AuthorizationKey(principal, accessKey, sessionToken, Action.DESCRIBE, object);
    }
}
