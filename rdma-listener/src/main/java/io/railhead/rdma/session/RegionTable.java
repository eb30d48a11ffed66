package io.railhead.rdma.session;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An immutable table of regions by key: a lookup takes no lock and allocates nothing; a change
 * makes a copy. Keys are random, so they serve as their own hash.
 */
final class RegionTable {
    static final RegionTable EMPTY = new RegionTable(new int[2], new MemoryRegion[2], 0);

    /** 0 marks an empty place: no key is 0. */
    private final int[] keys;
    private final @Nullable MemoryRegion[] regions;
    private final int size;

    private RegionTable(int[] keys, @Nullable MemoryRegion[] regions, int size) {
        this.keys = keys;
        this.regions = regions;
        this.size = size;
    }

    int size() {
        return size;
    }

    @Nullable
    MemoryRegion find(int key) {
        if (key == 0) {
            return null;
        }
        int mask = keys.length - 1;
        int at = key & mask;
        while (keys[at] != 0) {
            if (keys[at] == key) {
                return regions[at];
            }
            at = (at + 1) & mask;
        }
        return null;
    }

    List<MemoryRegion> regions() {
        List<MemoryRegion> all = new ArrayList<>(size);
        for (MemoryRegion memoryRegion : regions) {
            if (memoryRegion != null) {
                all.add(memoryRegion);
            }
        }
        return all;
    }

    /** Returns a copy with one more region, whose key is new and not 0. */
    RegionTable with(int key, MemoryRegion memoryRegion) {
        RegionTable copy = copy(size + 1, 0);
        copy.put(key, memoryRegion);
        return copy;
    }

    RegionTable without(int key) {
        return find(key) == null ? this : copy(size - 1, key);
    }

    private RegionTable copy(int room, int leftOut) {
        int capacity = Integer.highestOneBit(Math.max(1, room)) << 2;
        RegionTable copy = new RegionTable(new int[capacity], new MemoryRegion[capacity], room);
        for (int i = 0; i < keys.length; i++) {
            MemoryRegion memoryRegion = regions[i];
            if (memoryRegion != null && keys[i] != leftOut) {
                copy.put(keys[i], memoryRegion);
            }
        }
        return copy;
    }

    private void put(int key, MemoryRegion memoryRegion) {
        int mask = keys.length - 1;
        int at = key & mask;
        while (keys[at] != 0) {
            at = (at + 1) & mask;
        }
        keys[at] = key;
        regions[at] = memoryRegion;
    }
}
