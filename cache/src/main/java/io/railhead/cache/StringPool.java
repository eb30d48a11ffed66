package io.railhead.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Shared instances of strings that many objects have in common: header names, content types,
 * buckets. Each response brings new instances, and they would outweigh all other metadata. Strings
 * that occur once are soon dropped. Any thread.
 */
final class StringPool {
    private static final int MOST_TEXTS = 4096;

    private final Cache<String, String> texts = Caffeine.newBuilder()
            .executor(Runnable::run)
            .maximumSize(MOST_TEXTS)
            .build();

    /**
     * Returns the same metadata with shared strings.
     *
     * @param held cached metadata of the same object, whose equal parts are reused
     */
    ObjectMetadata share(ObjectMetadata learnt, @Nullable ObjectMetadata held) {
        return new ObjectMetadata(version(learnt.version(), held),
                held != null && held.headers().equals(learnt.headers())
                        ? held.headers()
                        : share(learnt.headers()),
                learnt.learntAtNanos(), learnt.generation());
    }

    private ObjectVersion version(ObjectVersion learnt, @Nullable ObjectMetadata held) {
        if (held == null) {
            return of(share(learnt.object()), learnt);
        }
        return held.version().equals(learnt)
                ? held.version()
                : of(held.version().object(), learnt);
    }

    private static ObjectVersion of(ObjectId object, ObjectVersion learnt) {
        return new ObjectVersion(object, learnt.etag(), learnt.versionId(), learnt.sizeBytes());
    }

    private ObjectId share(ObjectId id) {
        return new ObjectId(share(id.backend()), share(id.namespace()), share(id.bucket()),
                id.key(), id.versionId());
    }

    private Map<String, String> share(Map<String, String> headers) {
        Map<String, String> shared = new LinkedHashMap<>();
        headers.forEach((name, value) -> shared.put(share(name), share(value)));
        return shared;
    }

    private String share(String text) {
        return texts.get(text, same -> same);
    }
}
