package io.railhead.gateway.auth;

import org.jspecify.annotations.Nullable;

/**
 * What a principal is known as at the store, where that is not its own key pair.
 *
 * @param account the owner of the buckets it names, where several credentials share one
 */
public record BackendCredential(@Nullable String account, AccessKey key) {}
