package io.railhead.gateway.trust;

import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestPeer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The registered buffers of a model's principals, a part for each operation of a step. What lay in
 * a part when its operation was answered must still lie there when the step has ended.
 */
final class ModelPeers implements AutoCloseable {
    static final byte MARK = 0x5a;

    private final List<TestPeer> peers;
    private final int slots;
    private final AtomicReferenceArray<byte @Nullable []> left;
    private final Set<Operation> unanswered = ConcurrentHashMap.newKeySet();

    ModelPeers(List<TestClient> clients, List<String> secrets, int slots) {
        this.slots = slots;
        this.left = new AtomicReferenceArray<>(slots * clients.size());
        this.peers = IntStream.range(0, clients.size())
                .mapToObj(i -> new TestPeer(clients.get(i), secrets.get(i),
                        (long) slots * History.PART_BYTES))
                .collect(Collectors.toCollection(ArrayList::new));
    }

    TestPeer of(Operation operation) {
        return peers.get(operation.principal());
    }

    static long offset(Operation operation) {
        return (long) operation.slot() * History.PART_BYTES;
    }

    /** Marks the operation's part. */
    void mark(Operation operation) {
        byte[] marks = new byte[operation.window()];
        Arrays.fill(marks, MARK);
        of(operation).set(offset(operation), marks);
        unanswered.add(operation);
    }

    /** Those whose answers never came: until the step is over their parts are the gateway's. */
    Set<Operation> unanswered() {
        return Set.copyOf(unanswered);
    }

    /** What lies there now that the operation has been answered, or nobody expects it any more. */
    byte[] answered(Operation operation) {
        byte[] bytes = of(operation).bytes(offset(operation), operation.window());
        unanswered.remove(operation);
        left.set(operation.principal() * slots + operation.slot(), bytes);
        return bytes;
    }

    /** The parts that were written to after their answer, which must be none. */
    @Nullable
    String findLateWrite() {
        for (int i = 0; i < left.length(); i++) {
            byte[] then = left.getAndSet(i, null);
            if (then != null && !Arrays.equals(then,
                    peers.get(i / slots)
                            .bytes((long) (i % slots) * History.PART_BYTES,
                                    then.length))) {
                return "I1: part " + i % slots + " of principal " + i / slots
                        + " was written to after its answer";
            }
        }
        return null;
    }

    @Override
    public void close() {
        peers.forEach(TestPeer::close);
        peers.clear();
    }
}
