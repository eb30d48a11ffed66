package io.railhead.client;

import io.railhead.client.channel.ChannelEndedException;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestOperation;
import io.railhead.protocol.channel.RequestRange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Parts by one-sided delivery over the session's channel: no HTTP request for a part, and many in
 * flight. Parts that the gateway declines, and all parts without a session, go over HTTP and are
 * counted by the reason.
 */
final class ChannelParts implements PartTransport {
    private static final Map<String, String> NO_HEADERS = Map.of();

    private final HttpParts http;
    private final Gateways gateways;
    private final ChannelRequests requests;
    private final BlockChannel blocks;
    private final Windows windows;
    private final PathCounters pathCounters;

    ChannelParts(HttpParts http, Gateways gateways, ChannelRequests requests, BlockChannel blocks,
            Windows windows,
            PathCounters pathCounters) {
        this.http = http;
        this.gateways = gateways;
        this.requests = requests;
        this.blocks = blocks;
        this.windows = windows;
        this.pathCounters = pathCounters;
    }

    @Override
    public Part fetch(PartRequest request, PartSink sink) throws IOException {
        if (request.bytes() > windows.windowBytes()) {
            pathCounters.overHttp("window");
            return http.fetch(request, sink);
        }
        return windows.lendFor(request, sink, this::fetchInto);
    }

    private Part fetchInto(PartRequest request, Window window) throws IOException {
        String reason;
        try {
            Answer answer = requests.call(new UnboundRequest(get(request), window));
            if (answer.status() != 0) {
                Part part = Part.of(answer, request);
                pathCounters.asAsked();
                pathCounters.read(answer.cache().name());
                return part;
            }
            reason = answer.code();
        } catch (NotAvailableException | ChannelEndedException e) {
            reason = reason(e);
        }
        pathCounters.overHttp(reason);
        return http.fetchInto(request, window);
    }

    @Override
    public void fetchAll(List<PartRequest> parts, PartSink sink, Streams streams)
            throws IOException {
        new Pipeline(parts, windows, this::begin).run(sink, streams);
    }

    private List<PartInFlight> begin(List<PartRequest> parts, List<Window> lent) {
        List<CompletableFuture<Part>> delivered = deliver(parts, lent);
        List<PartInFlight> begun = new ArrayList<>(parts.size());
        for (int i = 0; i < parts.size(); i++) {
            begun.add(new PartInFlight(delivered.get(i), lent.get(i), windows));
        }
        return begun;
    }

    @Override
    public RegisteredBuffer register(long bytes) {
        return gateways.allocate(bytes);
    }

    @Override
    public BlockChannel blocks() {
        return blocks;
    }

    @Override
    public List<CompletableFuture<Part>> read(List<Read> reads) {
        return deliver(reads.stream().map(Read::request).toList(),
                reads.stream().map(Read::window).toList());
    }

    private List<CompletableFuture<Part>> deliver(List<PartRequest> parts, List<Window> into) {
        List<UnboundRequest> drafts = new ArrayList<>(parts.size());
        for (int i = 0; i < parts.size(); i++) {
            drafts.add(new UnboundRequest(get(parts.get(i)), into.get(i)));
        }
        List<CompletableFuture<Answer>> answers = requests.send(drafts);
        List<CompletableFuture<Part>> delivered = new ArrayList<>(parts.size());
        for (int i = 0; i < parts.size(); i++) {
            PartRequest part = parts.get(i);
            Window window = into.get(i);
            delivered.add(answers.get(i)
                    .thenCompose(answer -> delivered(answer, part, window))
                    .exceptionallyCompose(
                            failure -> undelivered(FutureFailures.unwrap(failure), part, window)));
        }
        return delivered;
    }

    private CompletableFuture<Part> delivered(Answer answer, PartRequest part, Window window) {
        if (answer.status() == 0) {
            return overHttp(part, window, answer.code());
        }
        try {
            Part moved = Part.of(answer, part);
            pathCounters.asAsked();
            pathCounters.read(answer.cache().name());
            return CompletableFuture.completedFuture(moved);
        } catch (IOException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private CompletableFuture<Part> undelivered(Throwable failure, PartRequest part,
            Window window) {
        return switch (failure) {
            case NotAvailableException e -> overHttp(part, window, reason(e));
            case ChannelEndedException e -> overHttp(part, window, reason(e));
            default -> CompletableFuture.failedFuture(failure);
        };
    }

    private static String reason(IOException failure) {
        return String.valueOf(failure.getMessage());
    }

    private CompletableFuture<Part> overHttp(PartRequest part, Window window, String reason) {
        return http.inBackground(part, window, (request, into) -> {
            pathCounters.overHttp(reason);
            return http.fetchInto(request, into);
        });
    }

    private static Request get(PartRequest part) {
        ObjectName name = part.name();
        return new Request(0, RequestOperation.GET,
                new RequestRange.Between(part.offset(), part.offset() + part.bytes() - 1), 0, 0,
                part.bytes(), 0, name.bucket(), name.key(), "",
                part.etag() == null ? "" : part.etag(), "", NO_HEADERS);
    }

    @Override
    public String store(StoreRequest request) throws IOException {
        if (request.bytes() == 0) {
            return http.store(request);
        }
        if (request.bytes() > windows.windowBytes()) {
            pathCounters.overHttp("window");
            return http.store(request);
        }
        Window window = windows.lend();
        try {
            ByteBuffer bytes = window.bytes((int) request.bytes());
            request.readInto(bytes);
            return store(request,
                    new UnboundRequest(put(request, Checksum.crc32(bytes.flip())), window));
        } finally {
            windows.giveBack(window);
        }
    }

    private String store(StoreRequest request, UnboundRequest unboundRequest) throws IOException {
        String reason;
        try {
            Answer answer = requests.call(unboundRequest);
            if (answer.status() != 0) {
                return stored(answer, request);
            }
            reason = answer.code();
        } catch (NotAvailableException e) {
            reason = reason(e);
        } catch (ChannelEndedException e) {
            if (!unboundRequest.isRepeatable() && e.isOutcomeUnknown()) {
                throw new OutcomeUnknownException(request.name(), e);
            }
            reason = reason(e);
        } catch (MemoryHeldException e) {
            throw unboundRequest.isRepeatable()
                    ? e
                    : new OutcomeUnknownException(request.name(), e);
        }
        pathCounters.overHttp(reason);
        return http.store(request);
    }

    private String stored(Answer answer, StoreRequest request) throws IOException {
        if (!answer.isSuccess()) {
            throw request.refused(
                    S3Exception.of(answer));
        }
        if (answer.bytesMoved() != request.bytes() || answer.etag().isEmpty()) {
            throw new PermanentException("the gateway answered a write of " + request.bytes()
                    + " bytes with " + answer.bytesMoved() + " and ETag '" + answer.etag() + "'");
        }
        pathCounters.asAsked();
        return answer.etag();
    }

    private static Request put(StoreRequest store, Checksum checksum) {
        StoreRequest.Upload upload = store.upload();
        ObjectName name = store.name();
        return new Request(0,
                upload == null ? RequestOperation.PUT : RequestOperation.UPLOAD_PART,
                RequestRange.ALL, 0, 0, store.bytes(), upload == null ? 0 : upload.partNumber(),
                name.bucket(), name.key(), "", "", upload == null ? "" : upload.id(),
                Map.of(checksum.kind().header(), checksum.value()));
    }

    @Override
    public long storeLimit() {
        return windows.windowBytes();
    }

    @Override
    public ObjectHeads.Head head(ObjectName name) throws IOException {
        Answer answer;
        try {
            answer = requests
                    .call(new UnboundRequest(Request.head(0, name.bucket(), name.key()),
                            List.of()));
        } catch (NotAvailableException | ChannelEndedException _) {
            return http.head(name);
        }
        if (answer.status() == 0 || answer.cut()) {
            return http.head(name);
        }
        if (!answer.isSuccess()) {
            throw S3Exception.of(answer);
        }
        return new ObjectHeads.Head(new ObjectInfo(name, answer.objectSize(), answer.etag()),
                Checksum.find(answer.etag(),
                        header -> Optional.ofNullable(answer.headers().get(header)))
                        .orElse(null));
    }

    @Override
    public void close() {
        windows.close();
        gateways.close();
        http.close();
    }
}
