package io.railhead.client;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.message.SessionKey;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/**
 * A gateway in a test's hands: it answers over HTTP and writes into the memory that the client
 * registered, as told by a {@link Mood}. Its other end of the socket is in this process.
 */
final class FakeGateway implements AutoCloseable, FabricConnector {
    static final String SECRET = "gateway-secret";
    static final String SESSION = "00112233445566778899aabbccddeeff";
    static final int SESSION_NUMBER = 0xabcdef;
    static final int KEY = 0x1234;
    private static final int BODY_LIMIT = 1 << 20;

    /** What this gateway does with a token. */
    enum Mood {
        DELIVER,
        DECLINE,
        SHORT_COUNT,
        WRONG_REPLY,
        REPLY_AND_BODY,
        NO_COUNT,
        OTHER_VERSION_LATER,
        FAIL,
        HANG_UP,
        /** The store falls silent after an upload's last byte, and the gateway says so. */
        STORE_SILENT,
        STORE_NOTHING,
        REFUSE_SESSION,
        /** The first session is refused, as credentials that were revoked are. */
        REFUSE_TOKEN_ONCE,
        /** The session ends when the first request of an object's part comes, once. */
        END_ONCE,
        /** The same, and the gateway says that it served nothing. */
        END_UNSERVED_ONCE,
        /** Each session ends at its first request. */
        END_ALWAYS,
        /** No answer until the session is ended. */
        STALL,
        STALL_ONCE,
        /** Overloaded, twice. */
        BUSY_TWICE,
        /** Each answer 20 ms after the one before. */
        SLOWLY,
        /** No answer to whom asks for a session. */
        STALL_SESSION
    }

    final Map<String, byte[]> objects = new ConcurrentHashMap<>();
    final List<Map<String, List<String>>> requests = new CopyOnWriteArrayList<>();
    final AtomicInteger sessionsOpened = new AtomicInteger();
    final AtomicInteger peersClosed = new AtomicInteger();
    volatile AwsCredentialsProvider credentials = StaticCredentialsProvider
            .create(AwsBasicCredentials.create("AKID", SECRET));
    /** More fields of its directory, each with a comma before it. */
    volatile String placement = "";
    volatile Duration timeout = Duration.ofSeconds(20);
    volatile Mood mood = Mood.DELIVER;
    /** Whether its sessions' end is the end of what it touches. */
    volatile boolean letsGo = true;
    volatile String maxWindow = "4294967295";
    /** The fields of a session's answer that older gateways do not send. */
    volatile String newerFields = "";
    /** Memory of this size is not registered. */
    volatile long refusedBytes;
    volatile byte @Nullable [] provenKey;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    final List<FakePeer> peers = new CopyOnWriteArrayList<>();
    final AtomicInteger overHttp = new AtomicInteger();
    final List<Integer> batches = new CopyOnWriteArrayList<>();
    final List<Request> writes = new CopyOnWriteArrayList<>();
    final AtomicInteger channelRequests = new AtomicInteger();
    final AtomicInteger puts = new AtomicInteger();
    final AtomicInteger mostUnderWay = new AtomicInteger();
    private final AtomicInteger underWay = new AtomicInteger();

    FakeGateway() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    RailheadClient client(Via via, int streams) {
        return client(via, streams, Fallback.HTTP);
    }

    RailheadClient client(Via via, int streams, Fallback fallback) {
        URI endpoint = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        return new RailheadClient(new ClientConfig(endpoint, "us-east-1",
                credentials,
                via, fallback, streams, timeout, null), this);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            requests.add(Map.copyOf(exchange.getRequestHeaders()));
            byte[] body = exchange.getRequestBody().readNBytes(BODY_LIMIT);
            String path = exchange.getRequestURI().getPath();
            switch (exchange.getRequestMethod()) {
                case "POST" -> openSession(exchange, path);
                case "GET" -> get(exchange, path);
                case "PUT" -> put(exchange, path, body);
                case "HEAD" -> head(exchange, path);
                default -> exchange.sendResponseHeaders(405, -1);
            }
        }
    }

    private void openSession(HttpExchange exchange, String path) throws IOException {
        if (!path.equals("/.railhead/sessions")
                || !"fabric=loopback".equals(exchange.getRequestURI().getQuery())) {
            exchange.sendResponseHeaders(404, -1);
            return;
        }
        sessionsOpened.incrementAndGet();
        if (mood == Mood.REFUSE_TOKEN_ONCE) {
            mood = Mood.DELIVER;
            send(exchange, 400, "<Error><Code>InvalidToken</Code><Message>no</Message></Error>"
                    .getBytes(StandardCharsets.UTF_8));
            return;
        }
        if (mood == Mood.STALL_SESSION) {
            stall();
            return;
        }
        String authorization = exchange.getRequestHeaders().getFirst("Authorization");
        provenKey = SessionKey.ofOpen(SECRET, authorization, SESSION);
        send(exchange, 200, """
                {"session": "%s", "fabric": "loopback", "socket": "/none", "max_window": %s%s}
                """.formatted(SESSION, maxWindow, newerFields).getBytes(StandardCharsets.UTF_8));
    }

    private void get(HttpExchange exchange, String path) throws IOException {
        if (path.equals("/.railhead/endpoints")) {
            send(exchange, 200, ("{\"fabrics\": [{\"fabric\": \"loopback\"}]" + placement + "}")
                    .getBytes(StandardCharsets.UTF_8));
            return;
        }
        if (mood == Mood.STALL_ONCE) {
            mood = Mood.DELIVER;
            overHttp.incrementAndGet();
            stall();
            return;
        }
        mostUnderWay.accumulateAndGet(underWay.incrementAndGet(), Math::max);
        if (mood == Mood.SLOWLY) {
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        }
        // Before the answer: who has it may ask again at once.
        underWay.decrementAndGet();
        serve(exchange, path);
    }

    /** Until this gateway is closed. */
    private static void stall() {
        try {
            Thread.sleep(Duration.ofDays(1));
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void serve(HttpExchange exchange, String path) throws IOException {
        byte[] object = objects.get(path);
        if (object == null) {
            send(exchange, 404, "<Error><Code>NoSuchKey</Code><Message>gone</Message></Error>"
                    .getBytes(StandardCharsets.UTF_8));
            return;
        }
        overHttp.incrementAndGet();
        String[] range = exchange.getRequestHeaders()
                .getFirst("Range")
                .substring("bytes=".length())
                .split("-", -1);
        int from = Integer.parseInt(range[0]);
        int to = Math.min(Integer.parseInt(range[1]) + 1, object.length);
        exchange.getResponseHeaders()
                .set("ETag",
                        mood == Mood.OTHER_VERSION_LATER && from > 0 ? "\"v2\"" : "\"v1\"");
        exchange.getResponseHeaders()
                .set("Content-Range",
                        "bytes " + from + "-" + (to - 1) + "/" + object.length);
        deliver(exchange, Arrays.copyOfRange(object, from, to));
    }

    private void deliver(HttpExchange exchange, byte[] bytes) throws IOException {
        String token = exchange.getRequestHeaders().getFirst("x-amz-rdma-token");
        if (mood == Mood.FAIL) {
            send(exchange, 500, "<Error><Code>RDMATransferFailed</Code></Error>"
                    .getBytes(StandardCharsets.UTF_8));
        } else if (mood == Mood.HANG_UP) {
            return;
        } else if (token == null || mood == Mood.DECLINE) {
            exchange.getResponseHeaders().set("x-railhead-rdma-declined", "reserve");
            send(exchange, 206, bytes);
        } else {
            MemorySegment.copy(MemorySegment.ofArray(bytes), 0, window(token), 0, bytes.length);
            exchange.getResponseHeaders()
                    .set("x-amz-rdma-reply",
                            mood == Mood.WRONG_REPLY ? "200" : "206");
            if (mood != Mood.NO_COUNT) {
                exchange.getResponseHeaders()
                        .set("x-amz-rdma-bytes-transferred", Integer
                                .toString(mood == Mood.SHORT_COUNT
                                        ? bytes.length - 1
                                        : bytes.length));
            }
            send(exchange, 206, mood == Mood.REPLY_AND_BODY ? bytes : new byte[0]);
        }
    }

    private void head(HttpExchange exchange, String path) throws IOException {
        byte[] object = objects.get(path);
        exchange.getResponseHeaders().set("ETag", "\"v1\"");
        exchange.getResponseHeaders()
                .set("Content-Length",
                        Integer.toString(object == null ? 0 : object.length));
        exchange.sendResponseHeaders(object == null ? 404 : 200, -1);
    }

    private void put(HttpExchange exchange, String path, byte[] body) throws IOException {
        puts.incrementAndGet();
        String token = exchange.getRequestHeaders().getFirst("x-amz-rdma-token");
        exchange.getResponseHeaders().set("ETag", "\"stored\"");
        if (token != null && mood == Mood.DECLINE) {
            exchange.getResponseHeaders().remove("ETag");
            exchange.getResponseHeaders().set("x-amz-rdma-reply", "501");
            exchange.getResponseHeaders().set("x-railhead-rdma-declined", "put off");
            exchange.sendResponseHeaders(501, -1);
            return;
        }
        if (mood == Mood.STORE_SILENT) {
            send(exchange, 503, "<Error><Code>ServiceUnavailable</Code></Error>"
                    .getBytes(StandardCharsets.UTF_8));
            return;
        }
        if (token == null) {
            objects.put(path, body);
        } else if (mood != Mood.STORE_NOTHING) {
            exchange.getResponseHeaders().set("x-amz-rdma-reply", "200");
            objects.put(path, window(token).toArray(ValueLayout.JAVA_BYTE));
        }
        if (mood != Mood.HANG_UP) {
            send(exchange, 200, new byte[0]);
        }
    }

    private MemorySegment window(String token) {
        assert token.length() == 81;
        assert Integer.parseInt(token.substring(40, 46), 16) == SESSION_NUMBER;
        MemorySegment memory = peers.getLast()
                .memory(Integer.parseInt(token.substring(26, 34), 16));
        return memory.asSlice(
                Long.parseUnsignedLong(token.substring(0, 16), 16) - memory.address(),
                Long.parseLong(token.substring(17, 25), 16));
    }

    private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    @Override
    public boolean reaches(URI gateway) {
        return true;
    }

    @Override
    public String fabric() {
        return "loopback";
    }

    @Override
    public void requireUsable() {}

    @Override
    public Memory allocate(long bytes) {
        return LoopbackConnector.INSTANCE.allocate(bytes);
    }

    @Override
    public Peer connect(SessionGrant grant, byte[] sessionKey, Duration timeout)
            throws IOException {
        if (mood == Mood.REFUSE_SESSION) {
            throw new IOException("no such device");
        }
        if (!grant.id().equals(SESSION) || !Arrays.equals(sessionKey, provenKey)) {
            throw new IOException("wrong proof for " + grant.id());
        }
        FakePeer peer = new FakePeer(this);
        peers.add(peer);
        return peer;
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
