package io.railhead.cache;

import static java.util.Objects.requireNonNull;

/**
 * Objects as an operator names them, under every backend, account and version.
 *
 * @param name a whole key, or the prefix of keys; "" is the prefix of every key
 */
public record Selection(String bucket, String name, Kind kind) {

    /** The meaning of {@link #name}. */
    public enum Kind {
        KEY,
        PREFIX
    }

    public Selection {
        requireNonNull(kind, "kind is null");
        if (bucket.isEmpty()) {
            throw new IllegalArgumentException("bucket must not be empty");
        }
        if (kind == Kind.KEY && name.isEmpty()) {
            throw new IllegalArgumentException("key must not be empty");
        }
    }

    public boolean covers(ObjectId id) {
        return covers(id.bucket(), id.key());
    }

    /** Returns whether it covers every version of an object of that name. */
    public boolean covers(String otherBucket, String key) {
        return otherBucket.equals(bucket) && switch (kind) {
            case KEY -> key.equals(name);
            case PREFIX -> key.startsWith(name);
        };
    }
}
