package io.railhead.gateway.authorization;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The signed tokens that were used: a token names a client's memory for one request, and whoever
 * sends it again means that memory some later use. Any thread.
 */
public final class Replays {
    private static final int MAX_REMEMBERED = 1_000_000;

    private final Cache<String, AtomicBoolean> used;

    /** @param remember longer than a signature stays acceptable, in both directions of its date */
    public Replays(Duration remember) {
        used = Caffeine.newBuilder().maximumSize(MAX_REMEMBERED).expireAfterWrite(remember).build();
    }

    /** False if this signature came with this token before. */
    public boolean tryUse(String signature, String token) {
        AtomicBoolean first = used.get(signature + token, _ -> new AtomicBoolean(true));
        return first.getAndSet(false);
    }
}
