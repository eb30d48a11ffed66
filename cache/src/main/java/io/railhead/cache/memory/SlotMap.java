package io.railhead.cache.memory;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A map of registered memory by address, for people: pages change while it is made. It has at most
 * {@value #CELLS} cells. In each cell at most {@value #LOOKED_AT} large slots are read, and
 * represent the others.
 *
 * @param cellBytes the bytes that each cell represents; the last may be smaller
 * @param cells in the order of addresses
 */
public record SlotMap(long cellBytes, List<Cell> cells) {
    private static final int CELLS = 256;
    private static final int LOOKED_AT = 64;

    /** The use of a slot that is not free. */
    public enum Use {
        /** Waiting for bytes from the store or from a client. */
        FILLING,
        /** Cached and not leased. */
        HELD,
        /** Cached and leased. */
        LEASED,
        /** Evicted and still leased. */
        CONDEMNED,
        /** Taken from the reserve for one transfer. */
        RESERVE
    }

    /** A part of the memory, in bytes. */
    public record Cell(long free, Map<Use, Long> used) {
        public Cell {
            used = Map.copyOf(used);
        }

        public long used(Use use) {
            return used.getOrDefault(use, 0L);
        }
    }

    public SlotMap {
        cells = List.copyOf(cells);
    }

    static SlotMap of(SlotAllocator slots, int slotBytes) {
        int count = slots.count();
        int perCell = 1;
        while ((long) perCell * CELLS < count) {
            // Powers of two, so that cells end where slabs do.
            perCell *= 2;
        }
        int step = Math.max(1, perCell / LOOKED_AT);
        List<Cell> cells = new ArrayList<>();
        for (int from = 0; from < count; from += perCell) {
            int to = Math.min(count, from + perCell);
            cells.add(slots.tally(from, to, step).scaledTo((long) (to - from) * slotBytes));
        }
        return new SlotMap((long) perCell * slotBytes, cells);
    }

    /** Bytes by use. */
    static final class Tally {
        private final Map<Use, Long> used = new EnumMap<>(Use.class);
        private long free;

        void addFree(long bytes) {
            free += bytes;
        }

        /** @param owner null if it is not known yet: then the page has just begun to fill */
        void add(@Nullable Page owner, long bytes) {
            used.merge(owner == null ? Use.FILLING : owner.use(), bytes, Long::sum);
        }

        Cell scaledTo(long bytes) {
            long seen = free + used.values().stream().mapToLong(Long::longValue).sum();
            double scale = (double) bytes / Math.max(1, seen);
            Map<Use, Long> scaled = new EnumMap<>(Use.class);
            used.forEach((use, part) -> scaled.put(use, Math.round(part * scale)));
            return new Cell(Math.round(free * scale), scaled);
        }
    }
}
