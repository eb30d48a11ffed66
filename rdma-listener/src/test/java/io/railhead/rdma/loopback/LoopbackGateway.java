package io.railhead.rdma.loopback;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageSlice;
import io.railhead.client.ClientConfig;
import io.railhead.client.Fallback;
import io.railhead.client.RailheadClient;
import io.railhead.client.Via;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerOrigin;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestRange;
import io.railhead.protocol.channel.RequestView;
import io.railhead.protocol.message.SessionKey;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.channel.RequestChannel;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.ClientSessions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** A gateway of objects in memory on a real loopback fabric; without its channel it serves none. */
final class LoopbackGateway implements RequestHandler, AutoCloseable {
    private static final String SECRET = "gateway-secret";
    private static final int PIECE = 1 << 20;

    /** What its channel does with a request. */
    enum Mood {
        SERVE,
        /** Keeps it until it is let go. */
        HOLD,
        DECLINE
    }

    /** A request that is kept. */
    record Held(Request request, RequestChannel channel) {}

    final Map<String, byte[]> objects = new ConcurrentHashMap<>();
    final AtomicInteger sessionsOpened = new AtomicInteger();
    final Queue<Held> held = new ConcurrentLinkedQueue<>();
    volatile Mood mood = Mood.SERVE;

    private final ClientSessions clientSessions = new ClientSessions(Duration.ofMinutes(1), 100,
            100);
    private final Path socket;
    private final LoopbackFabric fabric;
    private final PageMemory memory;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    LoopbackGateway(Path folder, int credits) throws IOException {
        socket = folder.resolve("gateway.sock");
        fabric = new LoopbackFabric(
                LoopbackConfig.at(socket).with(credits, Duration.ofMinutes(1)), clientSessions,
                this);
        // No more than serves at once: a test counts on all of it.
        memory = PageMemory.open(new MemoryConfig(64L << 20, PIECE, 0.9, false),
                fabric::register);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/.railhead/sessions", this::open);
        server.createContext("/", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(404, -1);
            }
        });
        server.start();
    }

    RailheadClient client(int streams, Fallback fallback) {
        URI endpoint = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        return RailheadClient.connect(new ClientConfig(endpoint, "us-east-1",
                StaticCredentialsProvider.create(AwsBasicCredentials.create("AKID", SECRET)),
                Via.LOOPBACK, fallback, streams, Duration.ofSeconds(60),
                null));
    }

    private void open(HttpExchange exchange) throws IOException {
        try (exchange) {
            sessionsOpened.incrementAndGet();
            String authorization = exchange.getRequestHeaders().getFirst("Authorization");
            ClientSession clientSession = clientSessions.open("ann", "loopback",
                    id -> SessionKey.ofOpen(SECRET, authorization, id));
            if (clientSession == null) {
                exchange.sendResponseHeaders(503, -1);
                return;
            }
            byte[] answer = """
                    {"fabric": "loopback", "usable": true, "socket": "%s", "max_window": 4294967295,
                     "session": "%s"}""".formatted(socket, clientSession.id())
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
        }
    }

    @Override
    public void handle(RequestView view, RequestChannel channel) {
        Request request = view.toRequest();
        switch (mood) {
            case SERVE -> serve(request, channel);
            case HOLD -> held.add(new Held(request, channel));
            case DECLINE -> channel.answer(Answer.declined(request.id(), "reserve"));
        }
    }

    private void serve(Request request, RequestChannel channel) {
        byte[] object = objects.get(request.bucket() + "/" + request.key());
        if (request.operation().isWrite()) {
            store(request, channel);
        } else if (object == null) {
            channel.answer(Answer.failed(request.id(), 404, "NoSuchKey", "gone"));
        } else {
            switch (request.operation()) {
                case HEAD -> channel.answer(Answer.described(request.id(), object.length, 0,
                        "\"v1\"", "", Map.of(), AnswerOrigin.HIT));
                default -> deliver(request, channel, object);
            }
        }
    }

    private void deliver(Request request, RequestChannel channel, byte[] object) {
        if (!(request.range() instanceof RequestRange.Between(long first, long last))) {
            throw new IllegalStateException("the client asks for ranges: " + request);
        }
        if (first >= object.length) {
            channel.answer(Answer.failed(request.id(), 416, "InvalidRange", ""));
            return;
        }
        RemoteBuffer window;
        try {
            window = channel.session()
                    .window(request.bufferKey(), request.offset(),
                            request.window());
        } catch (TransferException e) {
            channel.answer(Answer.failed(request.id(), 400, "InvalidWindow",
                    String.valueOf(e.getMessage())));
            return;
        }
        int bytes = (int) (Math.min(last + 1, object.length) - first);
        List<PageSlice> slices = new ArrayList<>();
        for (int at = 0; at < bytes; at += PIECE) {
            slices.add(slice(object, (int) first + at, Math.min(PIECE, bytes - at)));
        }
        @Nullable
        PageSlice[] owned = slices.toArray(new PageSlice[0]);
        channel.deliver(window, owned, owned.length, Answer.delivered(request.id(), 206, bytes,
                object.length, first, 0, "\"v1\"", "", AnswerOrigin.HIT));
    }

    private PageSlice landing(int bytes) {
        PageSlice slice = memory.tryLand(0, bytes);
        if (slice == null) {
            throw new IllegalStateException("no memory for " + bytes);
        }
        return slice;
    }

    private PageSlice slice(byte[] object, int from, int bytes) {
        PageSlice slice = landing(bytes);
        int at = from;
        for (MemorySegment segment : slice.segments()) {
            MemorySegment.copy(MemorySegment.ofArray(object), at, segment, 0, segment.byteSize());
            at += (int) segment.byteSize();
        }
        return slice;
    }

    private void store(Request request, RequestChannel channel) {
        Transfer transfer = fabric.begin(channel.session()
                .window(request.bufferKey(),
                        request.offset(), request.window()));
        byte[] content = new byte[(int) request.window()];
        CompletableFuture<Void> read = CompletableFuture.completedFuture(null);
        for (int at = 0; at < content.length; at += PIECE) {
            int from = at;
            int bytes = Math.min(PIECE, content.length - at);
            read = read.thenCompose(_ -> transfer.read(landing(bytes), from))
                    .thenAccept(slice -> take(slice, content, from));
        }
        var _ = read.whenComplete((_, failure) -> {
            if (failure == null) {
                objects.put(request.bucket() + "/" + request.key(), content);
            }
            channel.answer(failure == null
                    ? Answer.stored(request.id(), content.length, "\"v1\"", "", Map.of())
                    : Answer.failed(request.id(), 500, "InternalError", failure.toString()));
        });
    }

    private static void take(PageSlice slice, byte[] into, int from) {
        int at = from;
        for (MemorySegment segment : slice.segments()) {
            MemorySegment.copy(segment, 0, MemorySegment.ofArray(into), at, segment.byteSize());
            at += (int) segment.byteSize();
        }
        slice.close();
    }

    @Override
    public void cancel(int requestId, RequestChannel channel) {
        // What is held stays: a gateway need not be quick.
    }

    @Override
    public void ended(RequestChannel channel) {
        held.removeIf(waiting -> waiting.channel().equals(channel));
    }

    /** Serves what was held, on its channel's thread, and all that comes. */
    void letGo() {
        mood = Mood.SERVE;
        for (Held waiting = held.poll(); waiting != null; waiting = held.poll()) {
            Held one = waiting;
            one.channel().executor().execute(() -> serve(one.request(), one.channel()));
        }
    }

    /** Ends every session. */
    void revoke() {
        clientSessions.revoke("ann");
    }

    void closeFabric() {
        fabric.close();
    }

    long leases() {
        return memory.stats().leases();
    }

    long registeredBytes() {
        return fabric.stats().registeredBytes();
    }

    @Override
    public void close() {
        fabric.close();
        memory.close();
        server.stop(0);
        threads.shutdownNow();
    }
}
