package io.railhead.rdma.loopback;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A copy between a slice's segments and a stretch of peer memory of the same size, done piece by
 * piece. One thread at a time.
 */
final class SliceCopy {

    /** Which way the bytes go. */
    enum Direction {
        TO_PEER,
        FROM_PEER
    }

    private final Direction direction;
    private final List<MemorySegment> local;
    private final MemorySegment peer;
    private long done;
    private int segment;
    private long inSegment;

    SliceCopy(Direction direction, List<MemorySegment> local, MemorySegment peer) {
        this.direction = direction;
        this.local = local;
        this.peer = peer;
    }

    boolean isDone() {
        return done == peer.byteSize();
    }

    /** Copies on by at most {@code maxBytes}; returns how many were copied. */
    long piece(long maxBytes) {
        long copied = 0;
        while (copied < maxBytes && !isDone()) {
            long rest = local.get(segment).byteSize() - inSegment;
            long bytes = Math.min(rest, maxBytes - copied);
            copy(local.get(segment), bytes);
            copied += bytes;
            done += bytes;
            inSegment += bytes;
            if (bytes == rest) {
                segment++;
                inSegment = 0;
            }
        }
        return copied;
    }

    private void copy(MemorySegment page, long bytes) {
        switch (direction) {
            case TO_PEER -> MemorySegment.copy(page, inSegment, peer, done, bytes);
            case FROM_PEER -> MemorySegment.copy(peer, done, page, inSegment, bytes);
        }
    }
}
