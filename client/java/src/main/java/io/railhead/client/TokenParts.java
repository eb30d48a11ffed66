package io.railhead.client;

import io.railhead.client.channel.ChannelEndedException;
import io.railhead.protocol.token.Token;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Parts by one-sided delivery: the request goes over HTTP with a token for a window of registered
 * memory, and the bytes do not. A part counts as delivered only if the status, the reply header and
 * the byte count confirm it and the body is empty. A response with a body and without a reply is a
 * decline, which is used and counted.
 */
final class TokenParts implements PartTransport {
    private static final String REPLY = "x-amz-rdma-reply";

    private final S3Http http;
    private final HttpParts fallback;
    private final Gateways gateways;
    private final Windows windows;
    private final PathCounters pathCounters;
    private final SecureRandom random = new SecureRandom();

    TokenParts(S3Http http, HttpParts fallback, Gateways gateways, Windows windows,
            PathCounters pathCounters) {
        this.http = http;
        this.fallback = fallback;
        this.gateways = gateways;
        this.windows = windows;
        this.pathCounters = pathCounters;
    }

    @Override
    public Part fetch(PartRequest request, PartSink sink) throws IOException {
        if (request.bytes() > windows.windowBytes()) {
            pathCounters.overHttp("window");
            return fallback.fetch(request, sink);
        }
        return windows.lendFor(request, sink, this::fetchInto);
    }

    private Part fetchInto(PartRequest request, Window window) throws IOException {
        try {
            return Attempts.idempotent(() -> attempt(request, window));
        } catch (NotAvailableException | ChannelEndedException e) {
            pathCounters.overHttp(String.valueOf(e.getMessage()));
            return fallback.fetchInto(request, window);
        }
    }

    private Part attempt(PartRequest request, Window window) throws IOException {
        Session session = gateways.home().require();
        String token = token(session, window, request.bytes());
        try (HttpAnswer answer = answer(session, window,
                () -> http.send(http.sign(tokened(request.call(), token))))) {
            return delivered(answer, request, window);
        }
    }

    /** Sends a request, and waits for its response. */
    private interface Exchange {
        HttpAnswer run() throws IOException;
    }

    /**
     * Returns the response, before which the gateway has fenced the transfer. Without a response
     * the gateway may still touch the window: only the session's end stops it.
     */
    private static HttpAnswer answer(Session session, Window window, Exchange exchange)
            throws IOException {
        try {
            return exchange.run();
        } catch (IOException | RuntimeException | Error e) {
            session.end();
            if (!session.hasLetGo()) {
                window.buffer().markHeld();
                if (e instanceof IOException lost && !(e instanceof OutcomeUnknownException)) {
                    throw new MemoryHeldException(lost);
                }
            }
            throw e;
        }
    }

    private Part delivered(HttpAnswer answer, PartRequest request, Window window)
            throws IOException {
        if (answer.status() / 100 != 2) {
            throw answer.refusal();
        }
        if (answer.findHeader(REPLY).isEmpty()) {
            pathCounters.overHttp(reason(answer));
            Part part = HttpParts.readBody(answer, request, window.bytes(request.bytes()));
            answer.findHeader(HttpParts.CACHE).ifPresent(pathCounters::read);
            return part;
        }
        Part part = Part.of(answer, request);
        String reply = answer.requireHeader(REPLY);
        String moved = answer.requireHeader("x-amz-rdma-bytes-transferred");
        if (!reply.equals(Integer.toString(answer.status()))
                || !moved.equals(Integer.toString(part.bytes())) || answer.body().read() >= 0) {
            throw new PermanentException("HTTP " + answer.status() + " with " + REPLY + " " + reply
                    + " and " + moved + " bytes moved is not a delivery of " + part.bytes());
        }
        pathCounters.asAsked();
        answer.findHeader(HttpParts.CACHE).ifPresent(pathCounters::read);
        return part;
    }

    @Override
    public RegisteredBuffer register(long bytes) {
        return gateways.allocate(bytes);
    }

    @Override
    public List<CompletableFuture<Part>> read(List<Read> reads) {
        return fallback.inBackground(reads, this::fetchInto);
    }

    @Override
    public String store(StoreRequest request) throws IOException {
        if (request.bytes() == 0) {
            return fallback.store(request);
        }
        if (request.bytes() > windows.windowBytes()) {
            pathCounters.overHttp("window");
            return fallback.store(request);
        }
        Window window = windows.lend();
        String etag;
        try {
            ByteBuffer bytes = window.bytes((int) request.bytes());
            request.readInto(bytes);
            etag = store(request, window, Checksum.crc32(bytes.flip()));
        } catch (NotAvailableException | ChannelEndedException e) {
            // Nothing was sent.
            pathCounters.overHttp(String.valueOf(e.getMessage()));
            etag = "";
        } finally {
            windows.giveBack(window);
        }
        return etag.isEmpty() ? fallback.store(request) : etag;
    }

    /** Returns the ETag, or "" if the gateway declined. */
    private String store(StoreRequest request, Window window, Checksum crc) throws IOException {
        Session session = gateways.home().require();
        Call call = tokened(request.call(), token(session, window, (int) request.bytes()))
                .header(crc.kind().header(), crc.value())
                .body(Call.Body.EMPTY);
        S3Http.Signed signed = http.sign(call);
        try (HttpAnswer answer = answer(session, window, () -> request.upload() == null
                ? http.sendOnce(signed, request.name())
                : http.send(signed))) {
            return stored(answer, request);
        }
    }

    private String stored(HttpAnswer answer, StoreRequest request) throws IOException {
        if (answer.status() == 501) {
            pathCounters.overHttp(reason(answer));
            return "";
        }
        if (answer.status() != 200) {
            throw request.refused(answer.refusal());
        }
        if (!answer.findHeader(REPLY).orElse("").equals("200")) {
            // A store that ignores the token may have stored an empty object.
            throw new PermanentException("the endpoint did not read the object: it answered"
                    + " without " + REPLY + " 200 and may have stored an empty one");
        }
        pathCounters.asAsked();
        return answer.requireHeader("ETag");
    }

    private static String reason(HttpAnswer answer) {
        return answer.findHeader("x-railhead-rdma-declined").orElse("not served");
    }

    private static String token(Session session, Window window, int length) throws IOException {
        if (length > session.maxWindowBytes()) {
            throw new NotAvailableException("the gateway's windows have only "
                    + session.maxWindowBytes() + " bytes");
        }
        int key = session.register(window.buffer());
        return new Token(window.buffer().memory().address() + window.offset(), length, key, 0,
                session.peer().sessionNumber(), Token.LOOPBACK_GID).format();
    }

    /** Adds a fresh random header each time: equal signatures would look like a replay. */
    private Call tokened(Call call, String token) {
        byte[] id = new byte[16];
        random.nextBytes(id);
        return call.unsignedPayload()
                .header("x-amz-rdma-token", token)
                .header("x-railhead-request-id", HexFormat.of().formatHex(id));
    }

    @Override
    public long storeLimit() {
        return windows.windowBytes();
    }

    @Override
    public ObjectHeads.Head head(ObjectName name) throws IOException {
        return fallback.head(name);
    }

    @Override
    public void close() {
        windows.close();
        gateways.close();
        fallback.close();
    }
}
