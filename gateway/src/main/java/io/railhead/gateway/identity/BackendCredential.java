package io.railhead.gateway.identity;

import io.railhead.backend.Caller;
import org.jspecify.annotations.Nullable;

/**
 * A principal's identity at the store, if that is not the principal's own key pair.
 *
 * @param account the owner of the buckets, if several credentials share one
 * @param caller how requests to the store are signed
 */
public record BackendCredential(@Nullable String account, Caller caller) {
    /** A name that no account has. */
    private static final String DEFAULT_CHAIN = "!default";

    static Caller.Credential caller(AccessKey key) {
        Secret token = key.sessionToken();
        return new Caller.Credential(key.id(), key.secret().reveal(),
                token == null ? null : token.reveal());
    }

    /** Returns the account that owns the bucket names; unchanged while a key pair is renewed. */
    String namespace() {
        return account != null ? account : ownName();
    }

    /** Returns the name by which the store knows the caller, for messages. */
    String ownName() {
        return switch (caller) {
            case Caller.Credential(String accessKey, String _, String _) -> accessKey;
            case Caller.AssumedRole role -> role.arn();
            case Caller.Anonymous _,Caller.ClientSigned _,Caller.DefaultChain _ -> DEFAULT_CHAIN;
        };
    }
}
