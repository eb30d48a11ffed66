package io.railhead.cache.disk;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.cache.disk.Tombstones.Name;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The keyed hashes of the names whose eviction covers one object: its key, and its key's prefixes.
 * Each is taken once, however many pages of the object are looked up, since a look at every page of
 * a large object would otherwise hash as often. One thread at a time.
 */
final class CoveringNames {
    private final byte[] secret;
    private final String bucket;
    private final String key;
    private @Nullable Name whole;
    private int[] lengths = Tombstones.NO_LENGTHS;
    private Name[] prefixes = {};
    private int hashes;

    /** @param secret the volume's, which is not changed */
    CoveringNames(byte[] secret, VersionName version) {
        this.secret = secret;
        this.bucket = version.bucket();
        this.key = version.key();
    }

    Name key() {
        Name known = whole;
        if (known == null) {
            known = hash(Tombstones.KEY, key);
            whole = known;
        }
        return known;
    }

    /**
     * Returns the prefixes of these lengths, as far as the key is long enough.
     *
     * @param sorted an array that nobody changes
     */
    Name[] prefixes(int[] sorted) {
        if (!Arrays.equals(sorted, lengths)) {
            int count = 0;
            while (count < sorted.length && sorted[count] <= key.length()) {
                count++;
            }
            Name[] found = new Name[count];
            for (int i = 0; i < count; i++) {
                found[i] = hash(sorted[i], key.substring(0, sorted[i]));
            }
            prefixes = found;
            lengths = sorted;
        }
        return prefixes;
    }

    private Name hash(int kind, String name) {
        hashes++;
        return hash(secret, kind, bucket, name);
    }

    /** Returns how many hashes were taken. */
    int hashes() {
        return hashes;
    }

    static Name hash(byte[] secret, int kind, String bucket, String name) {
        MessageDigest digest = VersionName.emptyDigest();
        digest.update(secret);
        digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(kind).array());
        VersionName.add(digest, bucket);
        digest.update(name.getBytes(UTF_8));
        ByteBuffer sum = ByteBuffer.wrap(digest.digest());
        return new Name(kind, sum.getLong(), sum.getLong());
    }
}
