package io.railhead.gateway.identity;

import org.jspecify.annotations.Nullable;

/**
 * A principal's identity at the store, where that is not its own key pair.
 *
 * @param account the owner of the buckets it names, where several credentials share one
 * @param key null: what the SDK's default provider chain gives
 */
public record BackendCredential(@Nullable String account, @Nullable AccessKey key) {
    /** No account is called so. */
    private static final String DEFAULT_CHAIN = "!default";

    /** Who owns the names that are asked for with it; the same while a key pair is renewed. */
    String namespace() {
        if (account != null) {
            return account;
        }
        return key == null ? DEFAULT_CHAIN : key.id();
    }
}
