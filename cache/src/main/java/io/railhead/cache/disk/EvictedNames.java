package io.railhead.cache.disk;

/**
 * Objects that are evicted by name, under every store, account and version.
 *
 * @param name a whole key, or the prefix of keys
 */
public record EvictedNames(String bucket, String name, Kind kind) {

    /** The meaning of {@link #name}. */
    public enum Kind {
        KEY,
        PREFIX
    }

    boolean covers(VersionName version) {
        return version.bucket().equals(bucket) && switch (kind) {
            case KEY -> version.key().equals(name);
            case PREFIX -> version.key().startsWith(name);
        };
    }
}
