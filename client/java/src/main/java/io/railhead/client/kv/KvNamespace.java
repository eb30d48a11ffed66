package io.railhead.client.kv;

import io.railhead.client.BlockChannel;
import io.railhead.client.NotAvailableException;
import io.railhead.client.ObjectName;
import io.railhead.client.S3Exception;
import io.railhead.client.UnboundRequest;
import io.railhead.client.Window;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.HeldKeys;
import io.railhead.protocol.channel.KeyBlock;
import io.railhead.protocol.channel.KeyUsage;
import io.railhead.protocol.channel.RemovedKeys;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestOperation;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Blocks below one prefix of a cache-only bucket ({@code durability: none}): small immutable
 * objects that a gateway holds in memory, such as the KV cache of an inference engine. All requests
 * go by the session's channel, and none to a store. Any thread.
 *
 * <p> Methods that return no stage block. Each throws {@link S3Exception} for a gateway's refusal,
 * and {@link NotAvailableException} if there is no session, the gateway is too old for the request,
 * or the bucket is not cache-only. A cache may lose what it holds: a caller that can compute a
 * block again takes each of these for a miss.
 *
 * <p> A block's windows are the gateway's from the call until the stage has completed, but for a
 * {@link io.railhead.client.MemoryHeldException}: then they stay the gateway's. Dependents of a
 * stage may run on a thread that others wait for: they must not block.
 */
public final class KvNamespace {
    private static final Duration MAX_LEASE = Duration.ofMinutes(10);
    private static final Duration MAX_WAIT = Duration.ofSeconds(60);
    private static final int PRECONDITION_FAILED = 412;
    private static final int NOT_FOUND = 404;
    private static final String TAKEN = "ObjectAlreadyExists";
    private static final Map<String, String> IF_ABSENT = Map.of("if-none-match", "*");
    private static final String SCHEME = "s3://";

    private final BlockChannel channel;
    private final String bucket;
    private final String prefix;

    private KvNamespace(BlockChannel channel, String bucket, String prefix) {
        this.channel = channel;
        this.bucket = bucket;
        this.prefix = prefix;
    }

    /**
     * Returns the namespace of a URL on a client's channel: see
     * {@link io.railhead.client.RailheadClient#kv}.
     */
    public static KvNamespace of(BlockChannel channel, String url) {
        String path = url.startsWith(SCHEME) ? url.substring(SCHEME.length()) : "";
        int slash = path.indexOf('/');
        String bucket = slash < 0 ? path : path.substring(0, slash);
        if (bucket.isEmpty()) {
            throw new IllegalArgumentException("not s3://bucket/prefix: '" + url + "'");
        }
        return new KvNamespace(channel, bucket, slash < 0 ? "" : path.substring(slash + 1));
    }

    /** Returns a bit for each key: whether it is held. */
    public BitSet exists(List<String> keys) throws IOException {
        return marked(RequestOperation.EXISTS, keys, 0);
    }

    /** Returns how many keys are held before the first that is not. */
    public int prefix(List<String> keys) throws IOException {
        List<KeyBatches.Batch> batches = KeyBatches.of(bucket, prefix, keys);
        List<Answer> answers = ask(requests(RequestOperation.PREFIX, batches, 0));
        int leading = 0;
        for (int i = 0; i < batches.size(); i++) {
            long count = answers.get(i).objectSize();
            if (count < 0 || count > batches.get(i).count()) {
                throw new IOException(count + " keys lead of " + batches.get(i).count());
            }
            leading += (int) count;
            if (count < batches.get(i).count()) {
                return leading;
            }
        }
        return leading;
    }

    /**
     * Keeps blocks from being evicted for so long. A lease ends by itself; another call renews it.
     *
     * @param time at least a millisecond and at most 10 minutes
     * @return a bit for each key: whether it is leased; 0 if it is not held, or beyond the tenant's
     *         share of leases
     */
    public BitSet lease(List<String> keys, Duration time) throws IOException {
        if (time.toMillis() < 1 || time.compareTo(MAX_LEASE) > 0) {
            throw new IllegalArgumentException(
                    "time must be from 1 ms to " + MAX_LEASE + ": " + time);
        }
        return marked(RequestOperation.LEASE, keys, (int) time.toMillis());
    }

    /**
     * Counts a use of each block, so that others are evicted before it. Returns a bit for each key:
     * whether it is held.
     */
    public BitSet touch(List<String> keys) throws IOException {
        return marked(RequestOperation.TOUCH, keys, 0);
    }

    /**
     * Removes blocks. Returns a bit for each key: whether it is gone, one that never was among
     * them; 0 if the caller may not remove it.
     */
    public BitSet delete(List<String> keys) throws IOException {
        return marked(RequestOperation.DELETE, keys, 0);
    }

    /** Removes all blocks of the namespace that the caller may remove; returns their number. */
    public long clear() throws IOException {
        long removed = 0;
        long more;
        do {
            more = askOnce(RequestOperation.DELETE_PREFIX).objectSize();
            removed += more;
        } while (more > 0);
        return removed;
    }

    /** Returns what the blocks take that the caller may read. The gateway looks at each of them. */
    public KeyUsage usage() throws IOException {
        try {
            return KeyUsage.of(askOnce(RequestOperation.USAGE));
        } catch (NumberFormatException e) {
            throw new IOException("the gateway's usage is no number", e);
        }
    }

    /**
     * Waits for blocks of the namespace to be removed, by a client, an eviction or their rule's
     * {@code ttl}. The first call begins a subscription of the client's session and returns at
     * once. From then on no removal is missed between calls, except those that
     * {@link RemovedKeys#anew} reports. Then all that the caller remembers as held is to be asked
     * for again. One call at a time waits; only keys that the caller may read are told.
     *
     * @param most the longest wait, at least a millisecond; at most 60 s and half of the client's
     *            timeout are waited
     * @return keys without the namespace's prefix; none if nothing was removed in that time
     */
    public RemovedKeys removals(Duration most) throws IOException {
        if (most.toMillis() < 1) {
            throw new IllegalArgumentException("most must be at least 1 ms: " + most);
        }
        long millis = Math.min(most.toMillis(),
                Math.min(MAX_WAIT.toMillis(), Math.max(1, channel.timeout().toMillis() / 2)));
        Answer answer = ask(List.of(new UnboundRequest(
                Request.removals(0, bucket, prefix, (int) millis), List.of()))).getFirst();
        try {
            return RemovedKeys.of(answer);
        } catch (IllegalArgumentException e) {
            throw new IOException("the gateway's removed keys make no sense: " + e.getMessage(),
                    e);
        }
    }

    /**
     * Reads each block into its windows.
     *
     * @return in the blocks' order: true if it was held and filled its windows exactly; else their
     *         content is undefined
     */
    public List<CompletionStage<Boolean>> get(List<Block> blocks) {
        List<CompletableFuture<Answer>> answers = channel.send(blocks.stream()
                .map(block -> unbound(RequestOperation.GET, block, Map.of()))
                .toList());
        List<CompletionStage<Boolean>> ends = new ArrayList<>(blocks.size());
        for (int i = 0; i < blocks.size(); i++) {
            Block block = blocks.get(i);
            ends.add(answers.get(i).thenCompose(answer -> end(() -> isRead(block, answer))));
        }
        return ends;
    }

    /**
     * Stores each block. A key is written once: the same bytes again are {@link Written#STORED},
     * others fail with 409 {@code ObjectAlreadyExists}. Nothing waits for room: without it, the
     * stage fails with 503 {@code SlowDown}.
     */
    public List<CompletionStage<Written>> put(List<Block> blocks) {
        return put(blocks, Map.of());
    }

    /** Stores each block whose key is not held; of the others it moves no bytes. */
    public List<CompletionStage<Written>> putIfAbsent(List<Block> blocks) {
        return put(blocks, IF_ABSENT);
    }

    private List<CompletionStage<Written>> put(List<Block> blocks, Map<String, String> headers) {
        List<CompletableFuture<Answer>> answers = channel.send(blocks.stream()
                .map(block -> unbound(RequestOperation.PUT, block, headers))
                .toList());
        List<CompletionStage<Written>> ends = new ArrayList<>(blocks.size());
        for (int i = 0; i < blocks.size(); i++) {
            Block block = blocks.get(i);
            ends.add(answers.get(i)
                    .thenCompose(answer -> end(() -> written(block, answer, !headers.isEmpty()))));
        }
        return ends;
    }

    private UnboundRequest unbound(RequestOperation operation, Block block,
            Map<String, String> headers) {
        List<Window> windows = block.windows();
        String key = prefix + block.key();
        return new UnboundRequest(operation == RequestOperation.GET
                ? Request.get(0, bucket, key, 0, 0, block.bytes())
                : Request.put(0, bucket, key, 0, 0, block.bytes(), headers), windows);
    }

    /** The end of a block's request, or its failure. */
    private interface End<T> {
        T of() throws IOException;
    }

    private static <T> CompletableFuture<T> end(End<T> end) {
        try {
            return CompletableFuture.completedFuture(end.of());
        } catch (IOException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private static boolean isRead(Block block, Answer answer) throws IOException {
        if (answer.status() == NOT_FOUND) {
            return false;
        }
        requireSuccess(answer);
        if (answer.bytesMoved() < 0 || answer.bytesMoved() > block.bytes()) {
            throw new IOException("asked for " + block.bytes() + " bytes, got "
                    + answer.bytesMoved());
        }
        return answer.bytesMoved() == block.bytes() && answer.objectSize() == block.bytes();
    }

    private Written written(Block block, Answer answer, boolean ifAbsent) throws IOException {
        if (ifAbsent && (answer.status() == PRECONDITION_FAILED || answer.code().equals(TAKEN))) {
            return Written.EXISTS;
        }
        try {
            requireSuccess(answer);
        } catch (S3Exception e) {
            throw e.asOutcome(new ObjectName(bucket, prefix + block.key()));
        }
        if (answer.bytesMoved() != block.bytes()) {
            throw new IOException("the gateway answered a put of " + block.bytes()
                    + " bytes with " + answer.bytesMoved());
        }
        return Written.STORED;
    }

    private BitSet marked(RequestOperation operation, List<String> keys, int millis)
            throws IOException {
        List<KeyBatches.Batch> batches = KeyBatches.of(bucket, prefix, keys);
        List<Answer> answers = ask(requests(operation, batches, millis));
        BitSet marks = new BitSet(keys.size());
        for (int i = 0; i < batches.size(); i++) {
            KeyBatches.Batch batch = batches.get(i);
            marks(answers.get(i), batch.count()).stream()
                    .forEach(bit -> marks.set(batch.first() + bit));
        }
        return marks;
    }

    private static BitSet marks(Answer answer, int count) throws IOException {
        String digits = answer.headers().getOrDefault(HeldKeys.HEADER, "");
        try {
            BitSet marks = HeldKeys.parse(digits);
            if (digits.length() == (count + 7) / 8 * 2 && marks.length() <= count) {
                return marks;
            }
        } catch (IllegalArgumentException _) {
            // No hexadecimal digits: reported below.
        }
        throw new IOException("no bits for " + count + " keys: '" + digits + "'");
    }

    private List<UnboundRequest> requests(RequestOperation operation,
            List<KeyBatches.Batch> batches, int millis) {
        return batches.stream()
                .map(batch -> new UnboundRequest(operation == RequestOperation.LEASE
                        ? Request.lease(0, bucket, batch.prefix(), batch.keys(), millis)
                        : Request.ofKeys(0, operation, bucket, batch.prefix(), batch.keys()),
                        List.of()))
                .toList();
    }

    private Answer askOnce(RequestOperation operation) throws IOException {
        return ask(List.of(new UnboundRequest(
                Request.ofKeys(0, operation, bucket, prefix, KeyBlock.NONE), List.of())))
                .getFirst();
    }

    private List<Answer> ask(List<UnboundRequest> requests) throws IOException {
        List<Answer> answers = requests.isEmpty() ? List.of() : channel.ask(requests);
        for (Answer answer : answers) {
            requireSuccess(answer);
        }
        return answers;
    }

    private static void requireSuccess(Answer answer) throws IOException {
        if (answer.status() == 0) {
            throw new NotAvailableException("the gateway does not serve this: " + answer.code());
        }
        if (!answer.isSuccess()) {
            throw S3Exception.of(answer);
        }
    }
}
