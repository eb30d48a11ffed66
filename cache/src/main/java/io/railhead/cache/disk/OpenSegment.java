package io.railhead.cache.disk;

import io.railhead.cache.disk.SegmentFooter.Entry;
import io.railhead.cache.disk.SegmentWriter.Offered;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * A segment that is being written: its pages are known by name, so an eviction removes them at
 * once. The writer alone takes units and adds pages; evictions come from any thread. Its lock is
 * held for no call of the disk.
 */
final class OpenSegment {
    final int segment;
    final long sequence;
    final TenantId tenant;
    /**
     * The key of its pages; null if the volume is not encrypted. Set by the writer at the begin.
     */
    @Nullable
    SecretKey key;
    /** Units that the tenant has not overwritten; the writer only. */
    final BitSet unwritten = new BitSet();
    /** The time of the last write; the writer only. */
    long usedAtNanos;
    private final DiskVolume volume;
    private final List<Named> pages = new ArrayList<>();
    /** The number of pages that each object has here, by its hash. */
    private final Map<Long, Integer> objects = new HashMap<>();
    private int nextUnit;
    /** The number of the last eviction that was applied. */
    private long stamp;

    private record Named(Entry entry, VersionName version) {}

    /** The pages to list in the footer, and the number of the last eviction that they survived. */
    record Sealed(long stamp, List<Entry> entries) {}

    /** @param stamp the number of the last eviction, before any page is here */
    OpenSegment(DiskVolume volume, int segment, long sequence, TenantId tenant, long stamp) {
        this.volume = volume;
        this.segment = segment;
        this.sequence = sequence;
        this.tenant = tenant;
        this.stamp = stamp;
    }

    synchronized boolean fits(int units) {
        return nextUnit + units <= volume.layout.dataUnits()
                && pages.size() < SegmentFooter.mostEntries(volume.layout.footerBytes());
    }

    /** Takes units that are not used again, even if their write fails: it may arrive later. */
    synchronized int take(int units) {
        int first = nextUnit;
        nextUnit += units;
        return first;
    }

    /** Makes a written page visible; false if it was evicted meanwhile, or the index is full. */
    synchronized boolean tryAdd(Entry entry, Offered page) {
        if (!page.current().getAsBoolean()) {
            return false;
        }
        // Before the put: a remover passes over volumes that do not know the name.
        boolean named = objects.merge(entry.objectHash(), 1, Integer::sum) == 1;
        if (named) {
            volume.names.add(entry.objectHash());
        }
        if (tryPut(entry, page)) {
            pages.add(new Named(entry, page.version().name()));
            return true;
        }
        left(entry.objectHash());
        return false;
    }

    private boolean tryPut(Entry entry, Offered page) {
        if (volume.tombstones.lastOver(page.version().covering()) > page.evictions()
                || !volume.put(segment, sequence, entry)) {
            return false;
        }
        if (!page.current().getAsBoolean()) {
            // Refuted between the look and the put, by a remover that may have come before the put.
            volume.index.remove(entry.identity(), volume.unit(segment, entry));
            return false;
        }
        return true;
    }

    private void left(long objectHash) {
        if (objects.merge(objectHash, -1, Integer::sum) == 0) {
            objects.remove(objectHash);
            volume.names.remove(objectHash);
        }
    }

    /**
     * Removes the pages that an eviction covers, which is among the volume's tombstones already.
     * Evictions come in the order of their numbers.
     */
    synchronized void evict(EvictedNames names, long number) {
        stamp = number;
        pages.removeIf(page -> {
            boolean covered = names.covers(page.version());
            if (covered) {
                Entry entry = page.entry();
                volume.index.remove(entry.identity(), volume.unit(segment, entry));
                left(entry.objectHash());
            }
            return covered;
        });
    }

    /** Drops the names of a segment that has ended, and that will have no footer. */
    synchronized void dropNames() {
        objects.keySet().forEach(volume.names::remove);
        objects.clear();
    }

    /** Ends the segment: what is evicted from now on is found by its stamp. */
    synchronized Sealed seal() {
        volume.stamp(segment, stamp);
        return new Sealed(stamp, pages.stream().map(Named::entry).toList());
    }
}
