package io.railhead.os.verbs;

import static java.util.Objects.requireNonNull;

import com.ibm.disni.verbs.IbvMr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What an adapter knows and does: registrations, completion queues, initiators, whom the fabric
 * reaches, and the moving of bytes. All of it under its own lock, so that a reset which returned
 * was the last that touched anything.
 */
final class FakeNic {
    static final int EINVAL = 22;
    static final long GID_HIGH = 0;
    static final long GID_LOW = 0xffff_0a00_0001L;
    /** enum ibv_wc_status. */
    static final int LOCAL_PROTECTION_ERROR = 4;

    /** Whoever may be reached. Under the adapter's lock. */
    interface Target {
        int number();

        long key();

        int mtuBytes();

        boolean isStalled();

        boolean isAt(AddressVector address);

        /** Null where the key does not allow it. */
        @Nullable
        MemorySegment find(int remoteKey, long address, long bytes, int access);
    }

    /** What verbs registered. */
    record Registered(long domain, long address, long bytes, int access) {
        boolean holds(long from, long length) {
            return from >= address && length <= bytes - (from - address);
        }
    }

    final Arena arena = Arena.ofShared();
    final Map<Integer, Registered> registered = new HashMap<>();
    final Map<Long, FakeContext.Domain> domains = new HashMap<>();
    final Map<Long, FakeContext.Queue> queues = new HashMap<>();
    final Map<Long, FakeInitiator> initiators = new TreeMap<>();
    final Map<Long, AddressVector> handles = new HashMap<>();
    final Map<Integer, Target> targets = new HashMap<>();
    final List<FakeMlx5.Posted> posted = new ArrayList<>();
    /** What was thrown where nobody could catch it. */
    final List<Throwable> thrown = new ArrayList<>();
    boolean isHeld;
    boolean isMoving = true;
    private PortAttributes port = new PortAttributes(4, 5, 4, 0, 2);
    private int lastKey = 0x100;
    private int lastNumber = 0x40;

    synchronized void thrown(Throwable e) {
        thrown.add(e);
    }

    synchronized PortAttributes port() {
        return port;
    }

    synchronized void port(PortAttributes now) {
        port = now;
    }

    synchronized boolean isEthernet() {
        return port.linkLayer() == 2;
    }

    synchronized int nextKey() {
        return ++lastKey;
    }

    synchronized int nextNumber() {
        return ++lastNumber;
    }

    synchronized void add(Target target) {
        targets.put(target.number(), target);
    }

    synchronized void remove(Target target) {
        targets.remove(target.number());
        runAll();
    }

    /** Goes on wherever nothing holds it back any more. */
    synchronized void runAll() {
        for (FakeInitiator initiator : List.copyOf(initiators.values())) {
            run(initiator);
        }
    }

    /** Does what an initiator has posted, in order, until something holds it back. */
    synchronized void run(FakeInitiator initiator) {
        FakeMlx5.@Nullable Posted next = initiator.pending.peek();
        while (next != null && !(initiator.isReady() && isHeldBack(next))) {
            initiator.pending.remove();
            int status = initiator.isReady() ? execute(initiator, next) : Completions.FLUSHED;
            initiator.completed(next, status);
            next = initiator.pending.peek();
        }
    }

    private boolean isHeldBack(FakeMlx5.Posted request) {
        Target target = targets.get(request.target());
        return isHeld || (target != null && target.isStalled());
    }

    /** The completion's status. */
    private int execute(FakeInitiator initiator, FakeMlx5.Posted request) {
        Target target = targets.get(request.target());
        if (target == null || target.key() != request.key() || !target.isAt(request.to())) {
            return Completions.RETRY_EXCEEDED;
        }
        List<MemorySegment> local = new ArrayList<>();
        long bytes = 0;
        for (FakeMlx5.Entry entry : request.entries()) {
            Registered range = registered.get(entry.lkey());
            if (range == null || range.domain() != initiator.domain.address
                    || !range.holds(entry.address(), entry.bytes())
                    || (!request.isWrite()
                            && (range.access() & IbvMr.IBV_ACCESS_LOCAL_WRITE) == 0)) {
                return LOCAL_PROTECTION_ERROR;
            }
            local.add(Memory.view(entry.address(), entry.bytes()));
            bytes += entry.bytes();
        }
        MemorySegment remote = target.find(request.rkey(), request.remote(), bytes,
                request.isWrite()
                        ? IbvMr.IBV_ACCESS_REMOTE_WRITE
                        : IbvMr.IBV_ACCESS_REMOTE_READ);
        if (remote == null) {
            return Completions.REMOTE_ACCESS_ERROR;
        }
        if (isMoving && target.mtuBytes() == initiator.mtuBytes) {
            move(local, remote, request.isWrite());
        }
        return Completions.SUCCESS;
    }

    private static void move(List<MemorySegment> local, MemorySegment remote, boolean isWrite) {
        long at = 0;
        for (MemorySegment stretch : local) {
            MemorySegment other = remote.asSlice(at, stretch.byteSize());
            if (isWrite) {
                other.copyFrom(stretch);
            } else {
                stretch.copyFrom(other);
            }
            at += stretch.byteSize();
        }
    }

    FakeInitiator initiator(long queuePair) {
        return requireNonNull(initiators.get(queuePair), "no initiator is there");
    }
}
