package io.railhead.cache;

import java.util.Comparator;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Predicate;

/**
 * The keys of cache-only objects by bucket, in S3's order. Its caller adds an object under the
 * index's lock of its key. Any thread.
 */
final class CacheOnlyNames {
    /** S3's order of keys, that of their bytes in UTF-8. */
    static final Comparator<String> KEY_ORDER = CacheOnlyNames::compare;

    private final ConcurrentMap<Bucket, ConcurrentNavigableMap<String, CacheOnlyObject>> buckets = new ConcurrentHashMap<>();

    private record Bucket(String namespace, String name) {
        static Bucket of(ObjectId id) {
            return new Bucket(id.namespace(), id.bucket());
        }
    }

    void add(CacheOnlyObject object) {
        buckets.compute(Bucket.of(object.id()), (_, before) -> {
            ConcurrentNavigableMap<String, CacheOnlyObject> named = before == null
                    ? new ConcurrentSkipListMap<>(KEY_ORDER)
                    : before;
            named.put(object.id().key(), object);
            return named;
        });
    }

    void remove(CacheOnlyObject object) {
        buckets.computeIfPresent(Bucket.of(object.id()), (_, named) -> {
            named.remove(object.id().key(), object);
            return named.isEmpty() ? null : named;
        });
    }

    /**
     * Visits the objects of a bucket that live at a time, until the visitor returns false.
     *
     * @param from the first key to visit, or the next after it
     */
    void visit(String namespace, String bucket, String from, long nanos,
            Predicate<CacheOnlyObject> visitor) {
        ConcurrentNavigableMap<String, CacheOnlyObject> named = buckets
                .get(new Bucket(namespace, bucket));
        if (named == null) {
            return;
        }
        for (CacheOnlyObject object : named.tailMap(from).values()) {
            if (!object.isExpiredAt(nanos) && !visitor.test(object)) {
                return;
            }
        }
    }

    private static int compare(String one, String other) {
        int length = Math.min(one.length(), other.length());
        for (int i = 0; i < length; i++) {
            char a = one.charAt(i);
            char b = other.charAt(i);
            if (a != b) {
                // Surrogates stand for code points above all other chars.
                return Character.isSurrogate(a) == Character.isSurrogate(b)
                        ? Character.compare(a, b)
                        : Character.isSurrogate(a) ? 1 : -1;
            }
        }
        return Integer.compare(one.length(), other.length());
    }
}
