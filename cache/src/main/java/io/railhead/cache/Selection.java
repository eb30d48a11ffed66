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
        return id.bucket().equals(bucket) && switch (kind) {
            case KEY -> id.key().equals(name);
            case PREFIX -> id.key().startsWith(name);
        };
    }
}
