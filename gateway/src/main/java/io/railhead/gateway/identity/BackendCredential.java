package io.railhead.gateway.identity;

import io.railhead.backend.Caller;
import org.jspecify.annotations.Nullable;

/**
 * A principal's identity at the store, if that is not the principal's own key pair.
 *
 * @param account the owner of the buckets, if several credentials share one
 * @param key null for the SDK's default provider chain
 */
public record BackendCredential(@Nullable String account, @Nullable AccessKey key) {
    /** A name that no account has. */
    private static final String DEFAULT_CHAIN = "!default";

    /** Returns the identity that signs requests to the store. */
    Caller caller() {
        return key == null ? new Caller.DefaultChain() : caller(key);
    }

    static Caller caller(AccessKey key) {
        Secret token = key.sessionToken();
        return new Caller.Credential(key.id(), key.secret().reveal(),
                token == null ? null : token.reveal());
    }

    /** Returns the account that owns the bucket names; unchanged while a key pair is renewed. */
    String namespace() {
        if (account != null) {
            return account;
        }
        return key == null ? DEFAULT_CHAIN : key.id();
    }
}
