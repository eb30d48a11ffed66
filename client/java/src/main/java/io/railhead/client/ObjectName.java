package io.railhead.client;

/**
 * The location of an object: bucket and key, the key as the user wrote it (not percent-encoded).
 */
public record ObjectName(String bucket, String key) {
    private static final String SCHEME = "s3://";

    public ObjectName {
        if (bucket.isEmpty() || bucket.indexOf('/') >= 0) {
            throw new IllegalArgumentException("not a bucket's name: '" + bucket + "'");
        }
        if (key.isEmpty()) {
            throw new IllegalArgumentException("key must not be empty in bucket " + bucket);
        }
    }

    /** Parses {@code s3://bucket/key}. */
    public static ObjectName parse(String uri) {
        int slash = uri.startsWith(SCHEME) ? uri.indexOf('/', SCHEME.length()) : -1;
        if (slash < 0 || slash == uri.length() - 1) {
            throw new IllegalArgumentException("not s3://bucket/key: '" + uri + "'");
        }
        return new ObjectName(uri.substring(SCHEME.length(), slash), uri.substring(slash + 1));
    }

    @Override
    public String toString() {
        return SCHEME + bucket + "/" + key;
    }
}
