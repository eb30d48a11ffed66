package io.railhead.gateway.object.passthrough;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.ContentRange;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.cache.FillException;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.PageSource;
import io.railhead.cache.RangeReader;
import io.railhead.cache.ReadRequest;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.HttpDelivery;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.fill.ObjectHeaders;
import io.railhead.gateway.http.BodyRelay;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.object.read.ReadServices;
import io.railhead.gateway.relay.EmptyParts;
import io.railhead.gateway.relay.ForwardedHeaders;
import io.railhead.gateway.relay.Relay;
import io.railhead.gateway.relay.StoreAnswers;
import io.railhead.gateway.relay.StoreErrors;
import io.railhead.gateway.request.S3Request;
import io.vertx.core.http.HttpServerResponse;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One GET under the client's own signature, which the gateway cannot verify. The store is therefore
 * asked each time, by the client's own request, and its refusal is passed on.
 *
 * <pre>
 *   held? ──no──▶ as it came ─────────────▶ 200, 206: relayed, whole pages kept on the way
 *     │yes                                  anything else: relayed
 *     ▼                                        ▲
 *   with If-None-Match, unsigned ──not 304─────┘
 *     └──304: allowed and fresh──▶ served from memory
 * </pre>
 *
 * <p>Only bytes of earlier responses are cached, and only the client's own request fetches any. If
 * a page is evicted before it was served, the same request is sent again. Event loop only.
 */
final class PassThroughRead {
    private final ReadServices services;
    private final HttpExchange httpExchange;
    private final S3Request request;
    private final ObjectId id;

    PassThroughRead(ReadServices services, HttpExchange httpExchange, S3Request request) {
        this.services = services;
        this.httpExchange = httpExchange;
        this.request = request;
        this.id = request.objectId();
    }

    void start() {
        ObjectMetadata held = services.cache().find(id);
        ReadPlan plan = held == null ? null : plan(held);
        if (plan == null || !mayServe(plan)) {
            ask(null);
        } else {
            ask(plan);
        }
    }

    private @Nullable ReadPlan plan(ObjectMetadata held) {
        return ReadPlan.of(held, request.range());
    }

    /** Returns whether all bytes, and all headers that the client wants, are cached. */
    private boolean mayServe(ReadPlan plan) {
        boolean told = plan.status() == 206 || !AnswerHead.wantsChecksums(request)
                || ObjectHeaders.isComplete(plan.metadata());
        return told && !services.cache().writes().isOpen(id)
                && services.cache().holds(plan.metadata().version(), plan.from(), plan.to());
    }

    /** @param held the plan to serve if the store confirms the version; null to ask for bytes */
    private void ask(@Nullable ReadPlan held) {
        ObjectHeaders.Moment sent = services.now(id);
        send(held == null ? null : "If-None-Match", held)
                .whenComplete(StoreAnswers.to(httpExchange, (answer, failure) -> {
                    if (failure != null) {
                        httpExchange.fail(StoreErrors.of(failure));
                    } else if (httpExchange.isOver()) {
                        BodyDrain.discard(answer.body());
                    } else {
                        answered(EmptyParts.asS3(request, answer), held, sent);
                    }
                }));
    }

    /** Sends the client's request with one more condition, which its signature does not cover. */
    private CompletionStage<BackendResponse> send(@Nullable String condition,
            @Nullable ReadPlan plan) {
        Headers headers = ForwardedHeaders.untouched(request.headers());
        if (condition != null && plan != null) {
            headers = headers.toBuilder()
                    .add(condition, plan.metadata().version().etag())
                    .build();
        }
        return request.store()
                .send(new BackendRequest("GET", request.target(), headers, new Payload.Empty(),
                        request.caller(), null));
    }

    private void answered(BackendResponse answer, @Nullable ReadPlan held,
            ObjectHeaders.Moment sent) {
        if (held != null) {
            services.metrics().revalidations.labels(outcome(answer.status())).inc();
        }
        if (answer.status() == 304 && held != null) {
            BodyDrain.discard(answer.body());
            if (isAsHeld(answer.headers(), held.metadata())) {
                serve(held);
            } else {
                services.cache().evict(id);
                ask(null);
            }
        } else if (answer.status() == 200 || answer.status() == 206) {
            keep(answer, sent);
        } else {
            if (answer.status() == 404) {
                services.cache().evict(id);
            }
            services.metrics().cacheResults.labels("refused").inc();
            Relay.pass(httpExchange, request.method(), answer);
        }
    }

    /** Compares headers beside the bytes: they may have changed while the bytes have not. */
    private static boolean isAsHeld(Headers answer, ObjectMetadata held) {
        return Stream.of("last-modified", "x-amz-version-id").allMatch(name -> {
            String now = answer.get(name);
            return now == null || now.equals(held.headers().get(name));
        });
    }

    private static String outcome(int status) {
        return switch (status) {
            case 304 -> "found";
            case 200, 206 -> "changed";
            default -> "refused";
        };
    }

    private void keep(BackendResponse answer, ObjectHeaders.Moment sent) {
        ContentRange part = ContentRange.tryParse(answer.headers().get("content-range"));
        ObjectMetadata metadata = answer.status() == 200
                ? whole(answer, sent)
                : part == null ? null : metadata(answer, part.size(), sent);
        if (metadata == null) {
            services.metrics().cacheResults.labels("bypass").inc();
            Relay.pass(httpExchange, request.method(), answer);
            return;
        }
        services.metrics().cacheResults.labels(CacheResult.MISS.label()).inc();
        services.metrics().usage.read(request.tenant(), id.bucket(), false, 0);
        long from = part == null ? 0 : part.first();
        long to = part == null ? metadata.version().sizeBytes() : part.last() + 1;
        Relay.pass(httpExchange, request.method(),
                new BackendResponse(answer.status(), answer.headers(), subscriber -> {
                    CachingTee kept = new CachingTee(services.cache(), metadata, from, to,
                            services.runBytes(), subscriber);
                    httpExchange.onClosed(kept::abandon);
                    answer.body().subscribe(kept);
                }));
        httpExchange.request().response().putHeader("x-cache", CacheResult.MISS.name());
    }

    private @Nullable ObjectMetadata whole(BackendResponse answer, ObjectHeaders.Moment sent) {
        String length = answer.headers().get("content-length");
        return length == null ? null : metadata(answer, Long.parseLong(length), sent);
    }

    /**
     * Returns null if the object may not be cached for others, or was encoded for this client
     * alone.
     */
    private @Nullable ObjectMetadata metadata(BackendResponse answer, long size,
            ObjectHeaders.Moment sent) {
        if (size > request.route().rule().maxObject().bytes()
                || answer.headers().contains("content-encoding")) {
            return null;
        }
        boolean tellsAll = answer.status() == 200 && AnswerHead.wantsChecksums(request);
        ObjectMetadata learnt = ObjectHeaders.metadata(id, answer.headers(), size, sent,
                tellsAll ? ObjectHeaders.Source.HEAD : ObjectHeaders.Source.RANGED_GET);
        ObjectMetadata held = services.cache().find(id);
        boolean knownBetter = learnt != null && held != null && !tellsAll
                && ObjectHeaders.isComplete(held) && held.version().equals(learnt.version());
        return knownBetter ? held : learnt;
    }

    private void serve(ReadPlan plan) {
        HttpDelivery delivery = new HttpDelivery(httpExchange, plan.length(),
                () -> head(plan),
                (cause, atOffset, response) -> lost(plan, atOffset, response));
        ReadRequest read = new ReadRequest(plan.metadata().version(), plan.from(), plan.to(),
                Pool.CACHE);
        RangeReader reader = services.cache()
                .read(read, PassThroughRead::fetchNothing,
                        httpExchange.executor(), delivery);
        httpExchange.onClosed(reader::cancel);
        reader.start();
    }

    private static void fetchNothing(ObjectVersion version, long offset, long length,
            PageSource.Sink sink) {
        sink.fail(new FillException(FillException.Reason.REFUSED,
                "there is no credential to fetch it with", null));
    }

    private HttpServerResponse head(ReadPlan plan) {
        services.metrics().cacheResults.labels(CacheResult.REVALIDATED.label()).inc();
        services.metrics()
                .delivered(request.objectId().bucket(), CacheResult.REVALIDATED.label(), "http",
                        plan.length());
        services.metrics().usage.read(request.tenant(), request.objectId().bucket(), true,
                plan.length());
        return AnswerHead.write(httpExchange, request, plan, CacheResult.REVALIDATED);
    }

    /** Handles a page that was evicted between the plan and its delivery. */
    private void lost(ReadPlan plan, long atOffset, @Nullable HttpServerResponse response) {
        if (response == null) {
            ask(null);
            return;
        }
        send("If-Match", plan)
                .whenComplete(StoreAnswers.to(httpExchange, (answer, failure) -> {
                    if (failure != null) {
                        httpExchange.cut("backend");
                    } else {
                        goOn(answer, plan, atOffset, response);
                    }
                }));
    }

    /** Continues with the same version from its first byte, without the bytes delivered already. */
    private void goOn(BackendResponse answer, ReadPlan plan, long atOffset,
            HttpServerResponse response) {
        ContentRange part = ContentRange.tryParse(answer.headers().get("content-range"));
        long first = part == null ? 0 : part.first();
        boolean same = answer.status() == plan.status() && first == plan.from()
                && plan.metadata().version().etag().equals(answer.headers().get("etag"));
        if (!same || httpExchange.isOver()) {
            BodyDrain.discard(answer.body());
            httpExchange.cut("version");
            return;
        }
        BodyRelay rest = new BodyRelay(httpExchange, response, plan.to() - atOffset, outcome -> {
            if (outcome.complete()) {
                response.end();
            } else {
                httpExchange.cut("backend");
            }
        });
        answer.body().subscribe(new SkippedPrefix(rest, atOffset - plan.from()));
    }
}
