package io.railhead.rdma;

import io.railhead.protocol.message.Refusal;
import java.util.HashMap;
import java.util.Map;

/**
 * A fabric's counters since its start, and its current state.
 *
 * @param transfers begun
 * @param bytesWritten into peers' memory
 * @param bytesRead from peers' memory
 * @param copyNanos thread time spent in copies
 * @param idleSpinNanos thread time that pollers spun in vain before they slept
 * @param sessions open now
 * @param registeredBytes of peers' memory held now; falls when the memory is released, not when
 *            that was requested
 * @param refusals transfers and slices that were refused or aborted; callers count the refusals of
 *            {@code ClientSessions.resolve}
 * @param peerRefusals refusals sent to peers on the socket
 * @param queuePairs the current queue pairs by state; {@code sessions} counts the open ones
 * @param pollerNanos processor time of each poller since its start, by its thread's name
 */
public record FabricStats(long transfers, long bytesWritten, long bytesRead, long copyNanos,
        long idleSpinNanos, long sessions, long registeredBytes,
        Map<TransferException.Reason, Long> refusals,
        Map<Refusal, Long> peerRefusals, Map<QueuePairState, Long> queuePairs,
        Map<String, Long> pollerNanos) {

    public static final FabricStats NONE = new FabricStats(0, 0, 0, 0, 0, 0, 0, Map.of(), Map.of(),
            Map.of(), Map.of());

    public FabricStats {
        refusals = Map.copyOf(refusals);
        peerRefusals = Map.copyOf(peerRefusals);
        queuePairs = Map.copyOf(queuePairs);
        pollerNanos = Map.copyOf(pollerNanos);
    }

    public FabricStats plus(FabricStats other) {
        return new FabricStats(transfers + other.transfers, bytesWritten + other.bytesWritten,
                bytesRead + other.bytesRead, copyNanos + other.copyNanos,
                idleSpinNanos + other.idleSpinNanos, sessions + other.sessions,
                registeredBytes + other.registeredBytes, sums(refusals, other.refusals),
                sums(peerRefusals, other.peerRefusals), sums(queuePairs, other.queuePairs),
                sums(pollerNanos, other.pollerNanos));
    }

    /**
     * Returns the part that remains after the fabric was closed: the counters, and the queue pairs
     * kept for good.
     */
    FabricStats afterItsEnd() {
        return new FabricStats(transfers, bytesWritten, bytesRead, copyNanos, idleSpinNanos, 0, 0,
                refusals, peerRefusals, queuePairs, pollerNanos);
    }

    private static <K> Map<K, Long> sums(Map<K, Long> one, Map<K, Long> other) {
        Map<K, Long> sums = new HashMap<>(one);
        other.forEach((key, count) -> sums.merge(key, count, Long::sum));
        return sums;
    }

    public long refused(TransferException.Reason reason) {
        return refusals.getOrDefault(reason, 0L);
    }

    public long refused(Refusal reason) {
        return peerRefusals.getOrDefault(reason, 0L);
    }

    /** Returns how many connections were refused because too many had not proved themselves. */
    public long unprovenRefused() {
        return refused(Refusal.BUSY);
    }
}
