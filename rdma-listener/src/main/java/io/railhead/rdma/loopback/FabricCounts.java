package io.railhead.rdma.loopback;

import io.railhead.rdma.FabricStats;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.loopback.SliceCopy.Direction;
import io.railhead.rdma.session.Refusal;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** The running counts behind {@link FabricStats}. Any thread. */
final class FabricCounts {
    private final LongAdder transfers = new LongAdder();
    private final LongAdder written = new LongAdder();
    private final LongAdder read = new LongAdder();
    private final LongAdder copyNanos = new LongAdder();
    private final LongAdder spinNanos = new LongAdder();
    private final LongAdder registered = new LongAdder();
    private final LongAdder sessions = new LongAdder();
    private final Map<TransferException.Reason, LongAdder> refusals = adders(
            TransferException.Reason.class);
    private final Map<Refusal, LongAdder> peerRefusals = adders(Refusal.class);

    void began() {
        transfers.increment();
    }

    void copied(Direction direction, long bytes, long nanos) {
        switch (direction) {
            case TO_PEER -> written.add(bytes);
            case FROM_PEER -> read.add(bytes);
        }
        copyNanos.add(nanos);
    }

    void refused(TransferException.Reason reason) {
        count(refusals, reason).increment();
    }

    void refused(Refusal reason) {
        count(peerRefusals, reason).increment();
    }

    void spun(long nanos) {
        spinNanos.add(nanos);
    }

    void registered(long bytes) {
        registered.add(bytes);
    }

    void sessionOpened() {
        sessions.increment();
    }

    void sessionEnded() {
        sessions.decrement();
    }

    FabricStats snapshot() {
        return new FabricStats(transfers.sum(), written.sum(), read.sum(), copyNanos.sum(),
                spinNanos.sum(), sessions.sum(), registered.sum(), sums(refusals),
                sums(peerRefusals));
    }

    private static <K extends Enum<K>> Map<K, LongAdder> adders(Class<K> keys) {
        Map<K, LongAdder> adders = new EnumMap<>(keys);
        for (K key : keys.getEnumConstants()) {
            adders.put(key, new LongAdder());
        }
        return adders;
    }

    private static <K extends Enum<K>> LongAdder count(Map<K, LongAdder> adders, K key) {
        LongAdder adder = adders.get(key);
        if (adder == null) {
            throw new IllegalStateException("every " + key + " has a count");
        }
        return adder;
    }

    private static <K extends Enum<K>> Map<K, Long> sums(Map<K, LongAdder> adders) {
        Map<K, Long> sums = new LinkedHashMap<>();
        adders.forEach((key, adder) -> sums.put(key, adder.sum()));
        return sums;
    }
}
