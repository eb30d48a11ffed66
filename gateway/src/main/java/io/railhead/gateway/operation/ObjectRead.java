package io.railhead.gateway.operation;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.ContentRange;
import io.railhead.backend.Requests;
import io.railhead.cache.DiscoverySource;
import io.railhead.cache.FillException;
import io.railhead.cache.ObjectCache.Discovery;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.PageSource;
import io.railhead.cache.RangeReader;
import io.railhead.cache.ReadRequest;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.gateway.authorization.Grant;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.delivery.HttpDelivery;
import io.railhead.gateway.delivery.RdmaDelivery;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.fill.BackendPageSource;
import io.railhead.gateway.fill.ObjectHeaders;
import io.railhead.gateway.freshness.FreshnessCheck;
import io.railhead.gateway.freshness.Probe;
import io.railhead.gateway.http.Exchange;
import io.railhead.gateway.request.ByteRange;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Exception;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.dialect.Reply;
import io.vertx.core.http.HttpServerResponse;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One GET of one object, from the question whether what is held may be served to its last byte.
 * Event loop only.
 *
 * <pre>
 *             held? ──no──▶ discover ──own answer──────────────┐
 *              │yes            └──another's──▶ (may serve?)    │
 *              ▼                                   │           ▼
 *   fresh and authorised? ──no──▶ ask (HEAD) ──yes─┴──▶ plan the bytes ──▶ deliver
 *              └──────────────yes──────────────────────────▲
 * </pre>
 *
 * <p>A version that changes before the first byte went out starts this over; afterwards the body is
 * cut. What may not be cached, or cannot be judged here, is relayed.
 */
final class ObjectRead {
    private static final int MAX_RESTARTS = 3;

    private final ReadServices services;
    private final Backing backing;
    private final Exchange exchange;
    private final S3Request request;
    private final ObjectId id;
    private final Rule rule;
    private final Grant grant;
    private final BackendPageSource source;
    private Destination destination;
    private String cacheResult = "HIT";
    private int restarts;

    ObjectRead(ReadServices services, Exchange exchange, S3Request request,
            Destination destination) {
        this.services = services;
        this.backing = new Backing(services);
        this.exchange = exchange;
        this.request = request;
        this.destination = destination;
        this.id = request.objectId();
        this.rule = request.route().rule();
        this.grant = ObjectReads.grant(request, id);
        this.source = new BackendPageSource(request.route().backend(), request.caller(),
                request.objectTarget());
    }

    void start() {
        ObjectMetadata held = services.cache().find(id);
        if (held == null) {
            discover();
        } else if (mayServe(held)) {
            serve(held);
        } else {
            ask(held);
        }
    }

    private boolean mayServe(ObjectMetadata held) {
        return services.grants().isGranted(grant, rule.rememberAuthorization())
                && FreshnessCheck.isFresh(rule.freshness(), held, services.nanoClock().getAsLong(),
                        services.cache().isBeingWritten(id))
                && (ObjectHeaders.isComplete(held) || !AnswerHead.wantsChecksums(request));
    }

    private void discover() {
        ByteRange range = ObjectReads.range(request);
        if (range != null && range.isSuffix()) {
            ask(null);
            return;
        }
        long offset = range == null ? 0 : range.first();
        services.cache()
                .discover(id,
                        flight -> sendDiscovery(flight, offset,
                                range == null ? Long.MAX_VALUE : range.last()))
                .whenComplete((discovery, failure) -> exchange.executor()
                        .execute(() -> discovered(discovery)));
    }

    private void sendDiscovery(DiscoverySource.Flight flight, long first, long last) {
        cacheResult = "MISS";
        ObjectHeaders.Moment sent = backing.now(id);
        DiscoveryRange asked = DiscoveryRange.around(first, last, services.pageBytes(),
                services.runBytes());
        request.route()
                .backend()
                .send(Requests.rangedGet(request.objectTarget(), request.caller(), asked.offset(),
                        asked.length(), null))
                .whenComplete((answer, failure) -> {
                    if (failure != null) {
                        flight.failed();
                        exchange.executor().execute(() -> exchange.fail(Relay.unanswered(failure)));
                    } else {
                        answeredDiscovery(flight, answer, asked, sent);
                    }
                });
    }

    /** On the backend's thread: the body must be on its way into pages before this returns. */
    private void answeredDiscovery(DiscoverySource.Flight flight, BackendResponse answer,
            DiscoveryRange asked,
            ObjectHeaders.Moment sent) {
        ContentRange range = ContentRange.tryParse(answer.headers().get("content-range"));
        if (answer.status() != 206 || range == null || range.first() != asked.offset()) {
            flight.failed();
            exchange.executor().execute(() -> discoveryRefused(answer));
            return;
        }
        ObjectMetadata metadata = ObjectHeaders.metadata(id, answer.headers(), range.size(), sent,
                ObjectHeaders.Source.RANGED_GET);
        if (metadata == null || range.size() > rule.maxObject().bytes()) {
            flight.failed();
            BodyDrain.discard(answer.body());
            exchange.executor().execute(this::relay);
            return;
        }
        services.grants().grant(grant, sent.nanos());
        PageSource.Sink sink = flight.found(metadata, range.first(),
                range.last() + 1 - range.first());
        if (sink == null) {
            BodyDrain.discard(answer.body());
        } else {
            BackendPageSource.pour(answer.body(), sink);
        }
    }

    private void discoveryRefused(BackendResponse answer) {
        switch (answer.status()) {
            case 200 -> {
                // Ranges are not served by this store, or not for this object.
                BodyDrain.discard(answer.body());
                relay();
            }
            case 416 -> {
                BodyDrain.discard(answer.body());
                ask(null);
            }
            default -> {
                if (answer.status() == 401 || answer.status() == 403) {
                    services.grants().revoke(grant);
                }
                services.metrics().cacheResults.labels("refused").inc();
                Relay.pass(exchange, request.method(), answer);
            }
        }
    }

    private void discovered(Discovery discovery) {
        ObjectMetadata metadata = discovery.metadata();
        if (discovery.own()) {
            if (metadata != null) {
                serve(metadata);
            }
            return;
        }
        if (metadata != null && mayServe(metadata)) {
            serve(metadata);
        } else {
            ask(metadata);
        }
    }

    /** @param held served although the backend does not answer, where the rule says so */
    private void ask(@Nullable ObjectMetadata held) {
        backing.probe(request, id, grant)
                .whenComplete((probe, failure) -> exchange.executor()
                        .execute(
                                () -> asked(
                                        failure == null
                                                ? probe
                                                : new Probe.Unanswered(String.valueOf(failure)),
                                        held)));
    }

    private void asked(Probe probe, @Nullable ObjectMetadata held) {
        services.metrics().revalidations
                .labels(probe.getClass().getSimpleName().toLowerCase(Locale.ROOT))
                .inc();
        switch (probe) {
            case Probe.Found(ObjectMetadata metadata) -> {
                if (held != null && cacheResult.equals("HIT")) {
                    cacheResult = "REVALIDATED";
                }
                serve(metadata);
            }
            case Probe.Uncacheable _ -> relay();
            // The GET's own refusal carries the error document that a HEAD cannot.
            case Probe.Refused _ -> relay();
            case Probe.Unanswered(String reason) -> {
                if (held != null && rule.staleIfError()
                        && services.grants().isGranted(grant, rule.rememberAuthorization())) {
                    services.metrics().staleServed.labels(rule.backend()).inc();
                    cacheResult = "STALE";
                    serve(held);
                } else {
                    exchange.fail(new S3Exception(S3Error.SERVICE_UNAVAILABLE,
                            "The store behind the gateway did not answer: " + reason));
                }
            }
        }
    }

    private void serve(ObjectMetadata metadata) {
        if (exchange.isOver()) {
            return;
        }
        String ifMatch = request.header("if-match");
        if ((ifMatch != null && !ifMatch.equals(metadata.version().etag()))
                || metadata.version().sizeBytes() > rule.maxObject().bytes()) {
            relay();
            return;
        }
        ReadPlan plan = plan(metadata);
        if (plan == null) {
            S3Exception unsatisfiable = new S3Exception(S3Error.INVALID_RANGE,
                    "The requested range is not satisfiable");
            exchange.fail(unsatisfiable.withHeader("content-range",
                    "bytes */" + metadata.version().sizeBytes()));
            return;
        }
        switch (destination) {
            case Destination.Body _ -> deliverBody(plan);
            case Destination.Memory memory ->
                deliverToMemory(plan.clippedTo(memory.buffer().length()), memory);
        }
    }

    private @Nullable ReadPlan plan(ObjectMetadata metadata) {
        long size = metadata.version().sizeBytes();
        ByteRange range = ObjectReads.range(request);
        if (range == null) {
            return new ReadPlan(metadata, 0, size, 200);
        }
        return range.isSatisfiable(size)
                ? new ReadPlan(metadata, range.from(size), range.to(size), 206)
                : null;
    }

    private void deliverBody(ReadPlan plan) {
        HttpDelivery delivery = new HttpDelivery(exchange, plan.length(), () -> bodyHead(plan),
                (cause, atOffset, response) -> bodyBroken(plan, cause, atOffset, response));
        RangeReader reader = read(plan, Pool.CACHE, delivery);
        exchange.onClosed(reader::cancel);
        reader.start();
    }

    private RangeReader read(ReadPlan plan, Pool fallback, RangeReader.Sink sink) {
        ReadRequest read = new ReadRequest(plan.metadata().version(), plan.from(), plan.to(),
                fallback);
        return services.cache().read(read, source, exchange.executor(), sink);
    }

    private HttpServerResponse bodyHead(ReadPlan plan) {
        count(plan, "http");
        HttpServerResponse response = AnswerHead.write(exchange, request, plan, cacheResult);
        if (destination instanceof Destination.Body(String declined) && !declined.isEmpty()) {
            response.putHeader("x-railhead-rdma-declined", declined);
        }
        return response;
    }

    private void count(ReadPlan plan, String transport) {
        if (source.hasFetched() && !cacheResult.equals("STALE")) {
            cacheResult = "MISS";
        }
        services.metrics().cacheResults.labels(cacheResult.toLowerCase(Locale.ROOT)).inc();
        services.metrics().deliveredBytes.labels(transport).inc((double) plan.length());
    }

    private void bodyBroken(ReadPlan plan, FillException cause, long atOffset,
            @Nullable HttpServerResponse response) {
        switch (cause.reason()) {
            case NO_MEMORY -> {
                if (response == null && !cacheResult.equals("STALE")) {
                    cacheResult = "MISS";
                }
                HttpServerResponse begun = response != null ? response : bodyHead(plan);
                new UncachedBody(exchange, request, plan, begun).continueAt(atOffset);
            }
            case VERSION_CHANGED, NOT_FOUND, REFUSED -> {
                forget(cause);
                if (response == null) {
                    restart();
                } else {
                    exchange.cut("version");
                }
            }
            case BACKEND_FAILED -> {
                if (response == null) {
                    exchange.fail(new S3Exception(S3Error.SERVICE_UNAVAILABLE,
                            "The store behind the gateway failed: " + cause.getMessage()));
                } else {
                    exchange.cut("backend");
                }
            }
        }
    }

    /** What one principal is refused others may still read; what has changed nobody may. */
    private void forget(FillException cause) {
        if (cause.reason() == FillException.Reason.REFUSED) {
            services.grants().revoke(grant);
        } else {
            services.cache().evict(id);
        }
    }

    private void restart() {
        if (++restarts > MAX_RESTARTS) {
            relay();
        } else {
            discover();
        }
    }

    private void deliverToMemory(ReadPlan plan, Destination.Memory memory) {
        if (plan.length() == 0) {
            delivered(plan, memory);
            return;
        }
        if (!services.deadlines().isOpen(exchange.arrivedAtNanos())) {
            decline("slow");
            return;
        }
        Transfer transfer;
        try {
            transfer = services.fabric().begin(memory.buffer());
        } catch (TransferException e) {
            if (e.reason() == TransferException.Reason.UNAVAILABLE) {
                decline("fabric");
            } else {
                exchange.fail(RdmaErrors.of(e));
            }
            return;
        }
        RdmaDelivery delivery = new RdmaDelivery(exchange, services.vertx(), transfer, plan.from(),
                services.deadlines(),
                new MemoryOutcome(plan, memory));
        delivery.start(read(plan, Pool.RESERVE, delivery));
    }

    /** How a delivery into the client's memory is answered. */
    private final class MemoryOutcome implements RdmaDelivery.Outcome {
        private final ReadPlan plan;
        private final Destination.Memory memory;

        private MemoryOutcome(ReadPlan plan, Destination.Memory memory) {
            this.plan = plan;
            this.memory = memory;
        }

        @Override
        public void delivered() {
            ObjectRead.this.delivered(plan, memory);
        }

        @Override
        public void declined(String reason) {
            ObjectRead.this.decline(reason);
        }

        @Override
        public void broken(Throwable cause) {
            boolean changed = cause instanceof FillException fill
                    && fill.reason() != FillException.Reason.BACKEND_FAILED
                    && fill.reason() != FillException.Reason.NO_MEMORY;
            if (changed && !exchange.isOver()
                    && services.deadlines().isOpen(exchange.arrivedAtNanos())) {
                forget((FillException) cause);
                restart();
            } else {
                services.metrics().rdmaRequests.labels(label(memory), "broken").inc();
                exchange.fail(RdmaErrors.of(cause));
            }
        }
    }

    private void delivered(ReadPlan plan, Destination.Memory memory) {
        if (exchange.isOver()) {
            return;
        }
        count(plan, services.fabric().name());
        services.metrics().rdmaRequests.labels(label(memory), "delivered").inc();
        HttpServerResponse response = AnswerHead.writeObject(exchange, request, plan, cacheResult);
        new Reply(plan.status(), plan.length()).headers().forEach(response::putHeader);
        response.putHeader("content-length", "0");
        response.end();
    }

    private void decline(String reason) {
        services.metrics().rdmaDeclined.labels(reason).inc();
        if (exchange.isOver()) {
            return;
        }
        destination = new Destination.Body(reason);
        start();
    }

    private void relay() {
        if (destination instanceof Destination.Memory) {
            services.metrics().rdmaDeclined.labels("uncacheable").inc();
            destination = new Destination.Body("uncacheable");
        }
        ObjectReads.relay(services, exchange, request, destination);
    }

    private static String label(Destination.Memory memory) {
        return memory.dialect().name().toLowerCase(Locale.ROOT);
    }
}
