package io.railhead.cache;

import java.util.HashMap;
import java.util.Map;

/**
 * The room of cache-only objects on their way up from disk, apart from that of uploads: a put that
 * is compared with an object on disk needs both. A tenant has one part of it at most, so that its
 * readers do not keep others waiting. Any thread.
 */
final class RisingRoom {
    /** The parts that there are. */
    private static final int PARTS = 2;

    private final Map<String, Long> byTenant = new HashMap<>();
    private long bytes;

    /**
     * Takes room; {@link #giveBack} must follow.
     *
     * @param partBytes the most that a tenant may have: as much as the largest object
     * @return false, with nothing changed, if there is too little now
     */
    synchronized boolean tryTake(String tenant, long wanted, long partBytes) {
        long mine = byTenant.getOrDefault(tenant, 0L) + wanted;
        if (mine > partBytes || bytes + wanted > PARTS * partBytes) {
            return false;
        }
        byTenant.put(tenant, mine);
        bytes += wanted;
        return true;
    }

    synchronized void giveBack(String tenant, long taken) {
        bytes -= taken;
        long left = byTenant.getOrDefault(tenant, 0L) - taken;
        if (left > 0) {
            byTenant.put(tenant, left);
        } else {
            byTenant.remove(tenant);
        }
    }
}
