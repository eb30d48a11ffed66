package io.railhead.cache.disk;

/**
 * The memory that the disk tier takes once all its volumes are open.
 *
 * @param indexBytes outside the heap: the indexes, the filters of names, and the readers' memory
 * @param heapBytes in the heap: the filter of pages seen before
 */
public record DiskMemory(long indexBytes, long heapBytes) {
    public static final DiskMemory NONE = new DiskMemory(0, 0);

    /** @param bytesEach the size of each file or device */
    public static DiskMemory of(int disks, long bytesEach, int pageBytes) {
        long pages = bytesEach / pageBytes;
        long each = DiskIndex.bytes(pages) + HeldNames.bytes(pages)
                + (long) VolumeReads.THREADS * pageBytes;
        return new DiskMemory(disks * each, disks * SeenBefore.bytes(pages));
    }
}
