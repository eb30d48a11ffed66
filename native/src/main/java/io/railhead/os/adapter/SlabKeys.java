package io.railhead.os.adapter;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The local keys of one device's registered slabs, by address. Pollers look up without a lock or
 * allocation; a slab is added before any of its pages is handed out.
 */
public final class SlabKeys {

    private record Registered(long start, long end, int localKey) {}

    /** Immutable; sorted by start. */
    private volatile List<Registered> slabs = List.of();

    public synchronized void add(long start, long bytes, int localKey) {
        List<Registered> more = new ArrayList<>(slabs);
        more.add(new Registered(start, start + bytes, localKey));
        more.sort(Comparator.comparingLong(Registered::start));
        slabs = List.copyOf(more);
    }

    /** Returns the key of a range; throws if the range is not within one slab. */
    public int require(long address, long bytes) {
        List<Registered> now = slabs;
        int low = 0;
        int high = now.size() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            Registered slab = now.get(middle);
            if (address < slab.start) {
                high = middle - 1;
            } else if (address >= slab.end) {
                low = middle + 1;
            } else if (address + bytes <= slab.end) {
                return slab.localKey;
            } else {
                break;
            }
        }
        throw new IllegalStateException("the memory lies in no registered slab");
    }
}
