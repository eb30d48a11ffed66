package io.railhead.cache.disk;

import java.util.Map;

/**
 * Counters since the start, and the current content.
 *
 * @param volumes files and devices in use or being opened
 * @param brokenVolumes of these, those that failed or hang and are left alone for now
 * @param recoveringVolumes of these, those that are being opened, or whose pages are not all known
 *            yet
 * @param refusedVolumes files and devices that the gateway does without
 * @param budgetBytes how much may be written a day once the disks are full; 0 for no limit
 * @param heldBytes the length of the pages
 * @param indexBytes of memory outside the heap
 * @param queuedBytes memory of pages that wait to be written
 * @param readPages pages that were read and right
 * @param corruptPages pages whose bytes were not those that were written, and that were dropped
 * @param errors failed calls
 * @param hangs calls that took too long
 * @param tenantBytes what the tenants have that have a rule
 * @param notKept pages that memory gave up and that were not written, by reason
 */
public record DiskStats(int volumes, int brokenVolumes, int recoveringVolumes,
        int refusedVolumes, long capacityBytes, long budgetBytes, long pages, long heldBytes,
        long indexBytes, long queuedBytes, long readPages, long readBytes,
        long writtenPages, long writtenBytes, long corruptPages, long errors, long hangs,
        Map<String, Long> tenantBytes, Map<NotKept, Long> notKept) {

    /** A reason for not writing a page. */
    public enum NotKept {
        /** The disk has the page already. */
        HELD,
        /** The object is smaller than configured. */
        SMALL,
        /** The page was given up for the first time. */
        ONCE,
        /** The write budget of the day is used up, or chance decided so. */
        BUDGET,
        /** Too many pages wait, most of them the same tenant's: the disk is slow. */
        QUEUE,
        /**
         * The page's tenant has no segment: too many write at once, or others' floors leave none.
         */
        TENANTS,
        /** The disk fails or hangs. */
        BROKEN,
        /** The disk's old content is not all known yet. */
        RECOVERING,
        /** The page was refuted or evicted meanwhile, or the index is full. */
        OVERTAKEN
    }

    public DiskStats {
        tenantBytes = Map.copyOf(tenantBytes);
        notKept = Map.copyOf(notKept);
    }
}
