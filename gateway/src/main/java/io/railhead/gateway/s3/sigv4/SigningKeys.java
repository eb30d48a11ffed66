package io.railhead.gateway.s3.sigv4;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.railhead.gateway.identity.AccessKey;
import io.railhead.protocol.message.SigningKey;

/**
 * Derived keys, each valid for a day. The whole key pair is the cache key, so a changed secret
 * misses.
 */
final class SigningKeys {
    private static final int MAX = 4096;

    private final Cache<Key, SigningKey> keys = Caffeine.newBuilder().maximumSize(MAX).build();

    private record Key(AccessKey key, SignatureScope scope) {}

    SigningKey get(AccessKey key, SignatureScope scope) {
        return keys.get(new Key(key, scope), k -> k.scope.keyOf(k.key.secret()));
    }
}
