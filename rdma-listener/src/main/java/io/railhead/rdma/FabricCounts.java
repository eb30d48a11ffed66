package io.railhead.rdma;

import io.railhead.protocol.message.Refusal;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** The running counts behind {@link FabricStats}. Any thread. */
public final class FabricCounts {
    private final LongAdder transfers = new LongAdder();
    private final LongAdder written = new LongAdder();
    private final LongAdder read = new LongAdder();
    private final LongAdder copyNanos = new LongAdder();
    private final LongAdder idleSpinNanos = new LongAdder();
    private final LongAdder registered = new LongAdder();
    private final LongAdder sessions = new LongAdder();
    private final Map<TransferException.Reason, LongAdder> refusals = adders(
            TransferException.Reason.class);
    private final Map<Refusal, LongAdder> peerRefusals = adders(Refusal.class);
    private final Map<QueuePairState, LongAdder> queuePairs = adders(QueuePairState.class);

    public void began() {
        transfers.increment();
    }

    public void written(long bytes) {
        written.add(bytes);
    }

    public void moved(OwnedSlice.Direction direction, long bytes) {
        switch (direction) {
            case TO_PEER -> written.add(bytes);
            case FROM_PEER -> read.add(bytes);
        }
    }

    public void copied(long nanos) {
        copyNanos.add(nanos);
    }

    /** Returns the counter for the time that pollers spin in vain. */
    public LongAdder idleSpinNanos() {
        return idleSpinNanos;
    }

    public void refused(TransferException.Reason reason) {
        count(refusals, reason).increment();
    }

    public void refused(Refusal reason) {
        count(peerRefusals, reason).increment();
    }

    public void registered(long bytes) {
        registered.add(bytes);
    }

    public void sessionOpened() {
        sessions.increment();
    }

    public void sessionEnded() {
        sessions.decrement();
    }

    public FabricStats snapshot() {
        return snapshot(Map.of(), Map.of());
    }

    /**
     * Returns the counts of a fabric that has queue pairs and pollers.
     *
     * @param pollerNanos processor time of each poller, by its thread's name
     */
    public FabricStats snapshot(Map<String, Long> pollerNanos) {
        return snapshot(sums(queuePairs), pollerNanos);
    }

    private FabricStats snapshot(Map<QueuePairState, Long> pairs, Map<String, Long> pollerNanos) {
        return new FabricStats(transfers.sum(), written.sum(), read.sum(), copyNanos.sum(),
                idleSpinNanos.sum(), sessions.sum(), registered.sum(), sums(refusals),
                sums(peerRefusals), pairs, pollerNanos);
    }

    /** Counts a queue pair that enters this state. */
    public void entered(QueuePairState state) {
        count(queuePairs, state).increment();
    }

    public void left(QueuePairState state) {
        count(queuePairs, state).decrement();
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
