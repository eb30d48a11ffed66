package io.railhead.cache.disk;

/**
 * The memory that the disk tier takes once all its volumes are open.
 *
 * @param indexBytes outside the heap: the indexes, and the readers' own pages
 * @param heapBytes in the heap: the filters
 */
public record DiskMemory(long indexBytes, long heapBytes) {
    public static final DiskMemory NONE = new DiskMemory(0, 0);

    /** @param bytesEach the size of each file or device */
    public static DiskMemory of(int disks, long bytesEach, int pageBytes) {
        long pages = bytesEach / pageBytes;
        long each = DiskIndex.bytes(pages) + (long) VolumeService.READERS * pageBytes;
        return new DiskMemory(disks * each,
                disks * (HeldNames.bytes(pages) + SeenBefore.bytes(pages)));
    }
}
