package io.railhead.gateway.request;

import io.railhead.backend.PercentCodec;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The bucket and key that a path and a Host header name, byte for byte.
 *
 * @param bucket null for the service itself
 * @param rawKey percent-encoded as sent, without the slash before it; raw bytes are encoded here;
 *            "" for the bucket itself
 * @param key percent-decoded
 */
public record Address(@Nullable String bucket, String rawKey, String key) {

    /**
     * Parses an address: virtual-host style if the host is a bucket below one of {@code domains},
     * of which the longest match counts; otherwise path style. Throws
     * {@link IllegalArgumentException} on bad percent-encoding and on bytes that are not UTF-8.
     */
    public static Address of(String rawPath, @Nullable String host, List<String> domains) {
        String bucket = host == null ? null : bucketOf(host, domains);
        String ascii = PercentCodec.ascii(rawPath);
        String path = ascii.startsWith("/") ? ascii.substring(1) : ascii;
        if (bucket != null) {
            return new Address(bucket, path, PercentCodec.decodeName(path));
        }
        if (path.isEmpty()) {
            return new Address(null, "", "");
        }
        int slash = path.indexOf('/');
        String rawKey = slash < 0 ? "" : path.substring(slash + 1);
        String name = PercentCodec.decodeName(slash < 0 ? path : path.substring(0, slash));
        return new Address(name, rawKey, PercentCodec.decodeName(rawKey));
    }

    /**
     * Returns whether every store reads the name as this very bucket. Permission for one bucket
     * must not reach another bucket or an object. Wider than S3's own rule: Ceph's tenants use a
     * colon.
     */
    public static boolean isBucketName(String name) {
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            boolean plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
                    || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_' || c == ':';
            if (!plain) {
                return false;
            }
        }
        return !name.isEmpty() && name.length() < 256 && !name.equals(".") && !name.equals("..");
    }

    public boolean namesObject() {
        return bucket != null && !rawKey.isEmpty();
    }

    /** An object's address by its names as they are, without percent-encoding. */
    public static Address ofObject(String bucket, String key) {
        return new Address(bucket, PercentCodec.encodePath(key), key);
    }

    /**
     * Returns the bucket that a Host header names below one of {@code domains}; null if there is
     * none.
     */
    public static @Nullable String bucketOf(String host, List<String> domains) {
        int colon = host.lastIndexOf(':');
        String name = (colon > host.lastIndexOf(']') ? host.substring(0, colon) : host)
                .toLowerCase(Locale.ROOT);
        if (name.endsWith(".")) {
            name = name.substring(0, name.length() - 1);
        }
        String longest = "";
        for (String domain : domains) {
            if (name.equals(domain)) {
                return null;
            }
            if (domain.length() > longest.length() && name.length() > domain.length() + 1
                    && name.endsWith("." + domain)) {
                longest = domain;
            }
        }
        return longest.isEmpty()
                ? null
                : name.substring(0, name.length() - longest.length() - 1);
    }
}
