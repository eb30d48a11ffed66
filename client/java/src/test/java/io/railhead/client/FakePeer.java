package io.railhead.client;

import io.railhead.client.FakeGateway.Mood;
import io.railhead.client.channel.ChannelEndedException;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerOrigin;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestRange;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A session with a {@link FakeGateway}: its channel answers as the mood says. */
final class FakePeer implements FabricConnector.Peer {
    private final FakeGateway gateway;
    private final Map<Integer, FabricConnector.Memory> memories = new ConcurrentHashMap<>();
    private final AtomicInteger nextKey = new AtomicInteger(FakeGateway.KEY);
    private final List<CompletableFuture<Answer>> stalled = new CopyOnWriteArrayList<>();
    /** In this gateway's own mappings of the memory, as it outlives the client's. */
    private final List<MemorySegment> inMidCopy = new CopyOnWriteArrayList<>();
    private volatile boolean open = true;

    FakePeer(FakeGateway gateway) {
        this.gateway = gateway;
    }

    MemorySegment memory(int key) {
        FabricConnector.Memory memory = memories.get(key);
        if (memory == null) {
            throw new IllegalStateException("no buffer has the key " + key);
        }
        return memory.segment();
    }

    int buffers() {
        return memories.size();
    }

    @Override
    public int sessionNumber() {
        return FakeGateway.SESSION_NUMBER;
    }

    @Override
    public int register(FabricConnector.Memory memory) throws IOException {
        if (memory.segment().byteSize() == gateway.refusedBytes) {
            throw new IOException("too many bytes registered");
        }
        int key = nextKey.getAndIncrement();
        memories.put(key, memory);
        return key;
    }

    @Override
    public void deregister(int key) {
        memories.remove(key);
    }

    @Override
    public List<CompletionStage<Answer>> send(List<Request> requests) {
        gateway.batches.add(requests.size());
        return requests.stream().<CompletionStage<Answer>>map(this::serve).toList();
    }

    @Override
    public Answer call(Request request) throws IOException {
        return FutureFailures.join(send(List.of(request)).getFirst().toCompletableFuture());
    }

    private CompletableFuture<Answer> serve(Request request) {
        int number = gateway.channelRequests.incrementAndGet();
        switch (gateway.mood) {
            case END_ALWAYS -> {
                return lost(request.operation().isWrite());
            }
            case END_ONCE -> {
                gateway.mood = Mood.DELIVER;
                return lost(request.operation().isWrite());
            }
            case END_UNSERVED_ONCE -> {
                gateway.mood = Mood.DELIVER;
                open = false;
                return CompletableFuture
                        .completedFuture(Answer.declined(request.id(), "revoked"));
            }
            case STALL -> {
                return stall();
            }
            case STALL_ONCE -> {
                gateway.mood = Mood.DELIVER;
                beginCopy(request);
                return stall();
            }
            case SLOWLY -> {
                CompletableFuture<Answer> late = stall();
                CompletableFuture.delayedExecutor(20L * stalled.size(), TimeUnit.MILLISECONDS)
                        .execute(() -> answerLate(request, late));
                return late;
            }
            case BUSY_TWICE -> {
                if (number <= 2) {
                    return CompletableFuture.completedFuture(
                            Answer.failed(request.id(), 503, "SlowDown", "busy"));
                }
            }
            case DECLINE -> {
                return CompletableFuture
                        .completedFuture(Answer.declined(request.id(), "reserve"));
            }
            case STORE_SILENT -> {
                return CompletableFuture.completedFuture(
                        Answer.failed(request.id(), 503, "ServiceUnavailable", "silent"));
            }
            case FAIL -> {
                return CompletableFuture.completedFuture(
                        Answer.failed(request.id(), 500, "RDMATransferFailed", ""));
            }
            default -> {
                // Served below.
            }
        }
        if (!open) {
            return lost(false);
        }
        return CompletableFuture.completedFuture(answer(request));
    }

    private Answer answer(Request request) {
        String path = "/" + request.bucket() + "/" + request.key();
        byte[] object = gateway.objects.get(path);
        return switch (request.operation()) {
            case GET -> object == null
                    ? Answer.failed(request.id(), 404, "NoSuchKey", "gone")
                    : deliver(request, object);
            case HEAD -> object == null
                    ? Answer.failed(request.id(), 404, "NoSuchKey", "gone")
                    : Answer.described(request.id(), object.length, 0, "\"v1\"", "", Map.of(),
                            AnswerOrigin.HIT);
            case PUT, UPLOAD_PART -> {
                gateway.writes.add(request);
                if (gateway.mood != Mood.STORE_NOTHING) {
                    gateway.objects.put(path, window(request).toArray(ValueLayout.JAVA_BYTE));
                }
                yield Answer.stored(request.id(),
                        gateway.mood == Mood.SHORT_COUNT
                                ? request.window() - 1
                                : request.window(),
                        "\"stored\"", "", Map.of());
            }
            case EXISTS, PREFIX, DELETE, DELETE_PREFIX, LEASE, TOUCH, USAGE, REMOVALS ->
                Answer.declined(request.id(), "unsupported");
        };
    }

    private Answer deliver(Request request, byte[] object) {
        if (!(request.range() instanceof RequestRange.Between(long first, long last))) {
            throw new IllegalStateException("the client asks for ranges: " + request);
        }
        if (first >= object.length) {
            return Answer.failed(request.id(), 416, "InvalidRange", "");
        }
        int end = (int) Math.min(last + 1, object.length);
        byte[] bytes = Arrays.copyOfRange(object, (int) first, end);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, window(request), 0, bytes.length);
        return Answer.delivered(request.id(), 206,
                gateway.mood == Mood.SHORT_COUNT ? bytes.length - 1 : bytes.length,
                object.length, first, 0,
                gateway.mood == Mood.OTHER_VERSION_LATER && first > 0 ? "\"v2\"" : "\"v1\"", "",
                AnswerOrigin.HIT);
    }

    private MemorySegment window(Request request) {
        return memory(request.bufferKey()).asSlice(request.offset(), request.window());
    }

    @SuppressWarnings("MustBeClosed") // A gateway that is stopped lets go of nothing.
    private void beginCopy(Request request) {
        var shared = (LoopbackConnector.SharedMemory) memories.get(request.bufferKey());
        if (shared != null) {
            inMidCopy.add(shared.file()
                    .map()
                    .segment()
                    .asSlice(request.offset(), request.window()));
        }
    }

    /** The copies go on that it was stopped in, whatever the client has given up. */
    void goOn() {
        inMidCopy.forEach(window -> window.fill((byte) 0xee));
    }

    private void answerLate(Request request, CompletableFuture<Answer> late) {
        if (open) {
            late.complete(answer(request));
            stalled.removeIf(CompletableFuture::isDone);
        }
    }

    private CompletableFuture<Answer> stall() {
        CompletableFuture<Answer> never = new CompletableFuture<>();
        stalled.add(never);
        return never;
    }

    private CompletableFuture<Answer> lost(boolean unknown) {
        open = false;
        return CompletableFuture.failedFuture(new ChannelEndedException(null, unknown));
    }

    /** The connection breaks. */
    void drop() {
        open = false;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public boolean hasLetGo() {
        return gateway.letsGo;
    }

    @Override
    public void close() {
        if (open) {
            open = false;
            gateway.peersClosed.incrementAndGet();
        }
        stalled.forEach(answer -> answer.completeExceptionally(
                new ChannelEndedException(null, true)));
        stalled.clear();
    }
}
