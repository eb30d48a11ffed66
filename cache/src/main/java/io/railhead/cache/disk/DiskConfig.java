package io.railhead.cache.disk;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of the disk tier.
 *
 * @param paths files or block devices, each for this gateway alone
 * @param bytesEach the size of each; 0 for whole devices
 * @param bytesPerDay how much may be written a day to all of them; 0 for no limit
 * @param minObjectBytes smaller objects stay in memory only
 * @param pageBytes the length of the longest page
 * @param queueBytes the most memory that pages waiting for the disk may keep in use
 * @param hangs the time after which a call of the disk counts as hanging
 * @param tenants those that have a quota or a floor
 * @param keys wrap the tenants' keys; null for no encryption
 */
public record DiskConfig(List<String> paths, long bytesEach, long bytesPerDay, long minObjectBytes,
        int pageBytes, long queueBytes, Duration hangs, Map<String, Share> tenants,
        @Nullable WrappingKeys keys) {
    public static final Duration HANGS = Duration.ofSeconds(1);

    /** A disk's size is a multiple of it. */
    public static final int UNIT_BYTES = DiskLayout.UNIT_BYTES;

    /**
     * A tenant's part of each disk, from 0 to 1.
     *
     * @param quota the most that it may have: beyond, its own oldest pages go
     * @param floor what other tenants' pages cannot drop
     */
    public record Share(double quota, double floor) {
        public Share {
            if (!(floor >= 0 && floor <= quota)) {
                throw new IllegalArgumentException(
                        "0 <= floor <= quota: " + floor + ", " + quota);
            }
        }
    }

    /** A configuration without rules for tenants. */
    public DiskConfig(List<String> paths, long bytesEach, long bytesPerDay, long minObjectBytes,
            int pageBytes, long queueBytes, Duration hangs) {
        this(paths, bytesEach, bytesPerDay, minObjectBytes, pageBytes, queueBytes, hangs,
                Map.of(), null);
    }

    public DiskConfig {
        tenants = Map.copyOf(tenants);
        paths = List.copyOf(paths);
        if (paths.isEmpty()) {
            throw new IllegalArgumentException("paths must not be empty");
        }
        if (queueBytes < pageBytes) {
            throw new IllegalArgumentException("queueBytes must hold a page: " + queueBytes);
        }
    }

    /** Returns the size of the smallest file or device. */
    public static long leastBytes() {
        return DiskLayout.leastBytes();
    }

    /** Returns the size of the largest file or device. */
    public static long mostBytes() {
        return DiskLayout.MOST_UNITS * DiskLayout.UNIT_BYTES;
    }
}
