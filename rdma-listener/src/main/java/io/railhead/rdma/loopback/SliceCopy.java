package io.railhead.rdma.loopback;

import io.railhead.rdma.OwnedSlice.Direction;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A copy between a slice's segments and a range of peer memory of the same size, done piece by
 * piece. One thread at a time.
 */
final class SliceCopy {

    private final Direction direction;
    private final List<MemorySegment> local;
    private final PeerMemory peer;
    private final long peerOffset;
    private final long length;
    private long done;
    private int segment;
    private long inSegment;

    SliceCopy(Direction direction, List<MemorySegment> local, PeerMemory peer, long peerOffset,
            long length) {
        this.direction = direction;
        this.local = local;
        this.peer = peer;
        this.peerOffset = peerOffset;
        this.length = length;
    }

    boolean isDone() {
        return done == length;
    }

    /** Copies at most {@code maxBytes} more; returns how many were copied. */
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
            case TO_PEER -> peer.put(peerOffset + done, page, inSegment, bytes);
            case FROM_PEER -> peer.get(peerOffset + done, page, inSegment, bytes);
        }
    }
}
