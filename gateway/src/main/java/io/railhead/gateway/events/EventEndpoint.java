package io.railhead.gateway.events;

import io.railhead.cache.EvictionCause;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.cache.Peers;
import io.railhead.gateway.frontdoor.UnsignedEndpoint;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.RequestHead;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code POST /.railhead/events}: a store reports writes that bypassed this gateway. The named
 * objects are evicted, under every backend and account. Repeated and reordered events are harmless.
 * Events shorten staleness and bound nothing.
 */
public final class EventEndpoint implements UnsignedEndpoint {
    private static final Logger LOG = LoggerFactory.getLogger(EventEndpoint.class);
    private static final int MAX_BODY_BYTES = 256 << 10;

    private final EventToken token;
    private final ObjectCache cache;
    private final Supplier<Set<String>> backends;
    private final Metrics metrics;

    public EventEndpoint(EventToken token, ObjectCache cache, Supplier<Set<String>> backends,
            Metrics metrics) {
        this.token = token;
        this.cache = cache;
        this.backends = backends;
        this.metrics = metrics;
    }

    @Override
    public void handle(HttpExchange httpExchange, RequestHead head) {
        switch (head.method()) {
            // The endpoint's existence is no secret, and some senders check it without their token.
            case "HEAD", "OPTIONS" -> {
                httpExchange.answer(200).putHeader("content-length", "0");
                httpExchange.end();
            }
            case "POST" -> {
                if (!token.isProvedBy(head.headers().get("authorization"))) {
                    throw refusal("unauthorized", new S3Refusal(S3Error.ACCESS_DENIED,
                            "Events need the token of gateway.events.token_file.")
                            .withStatus(401)
                            .withHeader("www-authenticate", "Bearer"));
                }
                receive(httpExchange);
            }
            default -> throw new S3Refusal(S3Error.METHOD_NOT_ALLOWED, "Events are posted.");
        }
    }

    private S3Refusal refusal(String outcome, S3Refusal error) {
        count(outcome, 1);
        return error;
    }

    private void count(String outcome, int events) {
        metrics.events.labels(outcome).inc(events);
    }

    private void receive(HttpExchange httpExchange) {
        Buffer body = Buffer.buffer();
        httpExchange.onBody(piece -> {
            if (body.length() + piece.length() > MAX_BODY_BYTES) {
                if (!httpExchange.isAnswered()) {
                    httpExchange.fail(refusal("too_large",
                            new S3Refusal(S3Error.MAX_MESSAGE_LENGTH_EXCEEDED,
                                    "Events must be at most " + MAX_BODY_BYTES + " bytes.")
                                    .withStatus(413)));
                }
            } else {
                body.appendBuffer(piece);
            }
        }, () -> {
            if (!httpExchange.isAnswered()) {
                // Many events take longer than an event loop may block.
                httpExchange.attemptElsewhere(() -> take(httpExchange, body.getBytes()));
            }
        }, () -> count("malformed", 1));
        if ("100-continue".equalsIgnoreCase(httpExchange.request().getHeader("expect"))) {
            httpExchange.request().response().writeContinue();
        }
        httpExchange.request().resume();
    }

    private void take(HttpExchange httpExchange, byte[] body) {
        try {
            take(EventDocument.parse(body))
                    .whenComplete((_, _) -> httpExchange.executor()
                            .execute(() -> httpExchange.goOn(() -> {
                                httpExchange.answer(200).putHeader("content-length", "0");
                                httpExchange.end();
                            })));
        } catch (EventDocument.MalformedException e) {
            throw refusal("malformed",
                    new S3Refusal(S3Error.INVALID_REQUEST, String.valueOf(e.getMessage())));
        }
    }

    /** Returns when no gateway of this cache serves what was before the events. */
    private CompletionStage<?> take(EventDocument document) {
        switch (document) {
            case EventDocument.Changes(List<EventDocument.Change> changes, int ignored) -> {
                CompletableFuture<?>[] heard = changes.stream()
                        .flatMap(this::invalidate)
                        .toArray(CompletableFuture[]::new);
                count("invalidated", changes.size());
                count("ignored", ignored);
                return CompletableFuture.allOf(heard);
            }
            case EventDocument.Test _ -> count("test", 1);
            case EventDocument.Subscription(String url) -> {
                count("subscription", 1);
                LOG.warn("events: SNS asks to confirm its subscription; if it is yours, open {}",
                        url.replaceAll("\\s", ""));
            }
        }
        return Peers.NOBODY;
    }

    private Stream<CompletableFuture<Void>> invalidate(EventDocument.Change change) {
        return backends.get()
                .stream()
                .flatMap(backend -> change.keys()
                        .stream()
                        .map(key -> cache.invalidate(
                                new ObjectId(backend, "", change.bucket(), key,
                                        change.versionId()),
                                EvictionCause.INVALIDATED).toCompletableFuture()));
    }
}
