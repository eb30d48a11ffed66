package io.railhead.cache.disk;

import java.nio.ByteBuffer;
import java.security.MessageDigest;

/** A keyed hash of a tenant's name: 128 bits, so a disk tells no names. */
record TenantId(long high, long low) {

    static TenantId of(String tenant, byte[] secret) {
        MessageDigest digest = VersionName.emptyDigest();
        digest.update(secret);
        VersionName.add(digest, "tenant");
        VersionName.add(digest, tenant);
        ByteBuffer sum = ByteBuffer.wrap(digest.digest());
        return new TenantId(sum.getLong(), sum.getLong());
    }
}
