package io.railhead.cache.disk;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * The full name of one immutable version. Its pages' identities are taken from a SHA-256 over a
 * volume's secret, this name and the page's index. So nobody can choose keys whose pages would be
 * taken for others, and a disk tells no names.
 *
 * @param store the store's own identity, so that a backend's name which is pointed elsewhere finds
 *            nothing
 * @param requestedVersion "" for the current version
 * @param etag quotes included
 */
public record VersionName(String store, String namespace, String bucket, String key,
        String requestedVersion, String etag, String versionId, long sizeBytes) {
    /** Copied for each name, since the search for a provider takes longer than a short digest. */
    private static final MessageDigest EMPTY = sha256();

    /**
     * Returns the start of a digest under a volume's secret, for all pages of the version.
     *
     * @param secret not changed as long as the digest is used
     */
    Digest digest(byte[] secret) {
        MessageDigest object = emptyDigest();
        object.update(secret);
        for (String part : new String[]{store, bucket, key}) {
            add(object, part);
        }
        MessageDigest version = copy(object);
        for (String part : new String[]{namespace, requestedVersion, etag, versionId}) {
            add(version, part);
        }
        version.update(ByteBuffer.allocate(Long.BYTES).putLong(sizeBytes).array());
        return new Digest(this, ByteBuffer.wrap(object.digest()).getLong(), version,
                new CoveringNames(secret, this));
    }

    /** The identities of a version's pages. One thread. */
    static final class Digest {
        private final VersionName name;
        private final long objectHash;
        private final MessageDigest version;
        private final CoveringNames covering;

        Digest(VersionName name, long objectHash, MessageDigest version,
                CoveringNames covering) {
            this.covering = covering;
            this.name = name;
            this.objectHash = objectHash;
            this.version = version;
        }

        VersionName name() {
            return name;
        }

        /** Returns the names whose eviction covers the object. */
        CoveringNames covering() {
            return covering;
        }

        /**
         * Returns the hash of store, bucket and key, which all versions share under every account:
         * a write is of them all.
         */
        long objectHash() {
            return objectHash;
        }

        PageIdentity page(long index) {
            MessageDigest page = copy(version);
            ByteBuffer sum = ByteBuffer.wrap(page.digest(
                    ByteBuffer.allocate(Long.BYTES).putLong(index).array()));
            return new PageIdentity(sum.getLong(), sum.getLong());
        }
    }

    /** Adds a text with its length, so that no two names run together. */
    static void add(MessageDigest digest, String text) {
        byte[] bytes = text.getBytes(UTF_8);
        digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(bytes.length).array());
        digest.update(bytes);
    }

    static MessageDigest emptyDigest() {
        return copy(EMPTY);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static MessageDigest copy(MessageDigest digest) {
        try {
            return (MessageDigest) digest.clone();
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException("the JDK's SHA-256 can be copied", e);
        }
    }
}
