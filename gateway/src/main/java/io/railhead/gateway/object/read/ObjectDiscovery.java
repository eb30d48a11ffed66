package io.railhead.gateway.object.read;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.ContentRange;
import io.railhead.backend.FetchTurn;
import io.railhead.backend.FixedBody;
import io.railhead.backend.Headers;
import io.railhead.backend.Requests;
import io.railhead.cache.DiscoverySource;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.PageSource;
import io.railhead.gateway.fill.BackendPageSource;
import io.railhead.gateway.fill.ObjectHeaders;
import io.railhead.gateway.freshness.NegativeCache;
import io.railhead.gateway.relay.EmptyParts;
import io.railhead.gateway.relay.StoreErrors;
import io.railhead.gateway.s3.Guard;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The first GET of a cold object, under the first requester's identity. It asks for the requested
 * range, learns version and size from the response's head, and fills pages from the body. Refusals,
 * and objects that cannot be cached, go back to {@link ObjectRead} on the requester's executor. A
 * missing key is remembered in the negative cache.
 */
final class ObjectDiscovery implements DiscoverySource {
    private static final String NO_SUCH_KEY = "<Code>NoSuchKey</Code>";
    private static final int MAX_DOCUMENT_BYTES = 4096;

    private final ReadContext scope;
    private final DiscoveryRange asked;
    private final ObjectRead read;

    ObjectDiscovery(ReadContext scope, DiscoveryRange asked, ObjectRead read) {
        this.scope = scope;
        this.asked = asked;
        this.read = read;
    }

    @Override
    public void send(Flight flight) {
        ObjectHeaders.Moment sent = scope.services().now(scope.id());
        scope.request()
                .store()
                .fetch(Requests.rangedGet(scope.request().objectTarget(), scope.request().caller(),
                        asked.offset(),
                        asked.length(), null),
                        FetchTurn.wanted(ReadRules.tenant(scope.request())))
                .whenComplete((answer, failure) -> {
                    if (failure != null) {
                        flight.failed();
                        onExecutor(() -> scope.requester().fail(StoreErrors.of(failure)));
                    } else {
                        Guard.run(() -> answered(flight, answer, sent),
                                thrown -> thrown(flight, answer, thrown));
                    }
                });
    }

    /** Fails the flight's owner; requests that joined the flight then ask for themselves. */
    private void thrown(Flight flight, BackendResponse answer, Throwable cause) {
        BodyDrain.discard(answer.body());
        flight.failedIfUnanswered();
        onExecutor(() -> scope.requester().fail(cause));
    }

    private void onExecutor(Runnable task) {
        scope.requester().executor().execute(task);
    }

    /**
     * Handles the response on the backend's thread: the body's subscriber must be set before this
     * returns.
     */
    private void answered(Flight flight, BackendResponse answer, ObjectHeaders.Moment sent) {
        ContentRange range = ContentRange.tryParse(answer.headers().get("content-range"));
        if (answer.status() != 206 || range == null || range.first() != asked.offset()) {
            flight.failed();
            refused(answer, sent);
            return;
        }
        ObjectMetadata metadata = cacheable(answer, range, sent);
        if (metadata == null) {
            flight.failed();
            BodyDrain.discard(answer.body());
            onExecutor(read::uncacheable);
            return;
        }
        scope.services().grants().grant(scope.grant(), sent.nanos(), sent.generation());
        PageSource.Sink sink = flight.found(metadata, range.first(), range.lengthBytes());
        if (sink == null) {
            BodyDrain.discard(answer.body());
        } else {
            BackendPageSource.pour(answer.body(), sink);
        }
    }

    private @Nullable ObjectMetadata cacheable(BackendResponse answer, ContentRange range,
            ObjectHeaders.Moment sent) {
        return range.size() > scope.rule().maxObject().bytes()
                ? null
                : ObjectHeaders.metadata(scope.id(), answer.headers(), range.size(), sent,
                        ObjectHeaders.Source.RANGED_GET);
    }

    /**
     * Handles a refusal. Only a missing key is remembered, and only if the store names that code.
     */
    private void refused(BackendResponse answer, ObjectHeaders.Moment sent) {
        if (answer.status() != 404 || !NegativeCache.isRemembered(scope.rule())
                || !isShort(answer.headers())) {
            onExecutor(() -> refused(answer));
            return;
        }
        BodyDrain.collect(answer.body(), MAX_DOCUMENT_BYTES)
                .whenComplete((document, failure) -> onExecutor(() -> {
                    if (failure == null) {
                        absent(answer, document, sent);
                    } else {
                        scope.requester().fail(StoreErrors.of(failure));
                    }
                }));
    }

    private void absent(BackendResponse answer, byte[] document, ObjectHeaders.Moment sent) {
        if (new String(document, UTF_8).contains(NO_SUCH_KEY)) {
            scope.services()
                    .absences()
                    .learn(scope.grant(), NegativeCache.Said.BY_CODE, sent.nanos(),
                            sent.generation());
        }
        refused(new BackendResponse(404, answer.headers(),
                new FixedBody(ByteBuffer.wrap(document))));
    }

    private static boolean isShort(Headers headers) {
        String length = headers.get("content-length");
        return length != null && length.length() <= 4
                && Integer.parseInt(length) <= MAX_DOCUMENT_BYTES
                && !NegativeCache.isDeleteMarker(headers);
    }

    private void refused(BackendResponse answer) {
        boolean denied = answer.status() == 401 || answer.status() == 403;
        if (denied && scope.request().header("referer") != null) {
            // A bucket policy may depend on the client's address, which the gateway's request did
            // not carry.
            BodyDrain.discard(answer.body());
            read.uncacheable();
            return;
        }
        if (answer.status() == 416 || EmptyParts.isEmpty(answer)) {
            BodyDrain.discard(answer.body());
            read.ask(null);
            return;
        }
        if (answer.isSuccess()) {
            // The store does not serve ranges, or not this one. The range is the gateway's and not
            // the client's, so the response cannot be passed on.
            BodyDrain.discard(answer.body());
            read.uncacheable();
            return;
        }
        if (denied) {
            scope.services().grants().revoke(scope.grant());
        }
        scope.services().metrics().cacheResults.labels("refused").inc();
        read.refused(answer);
    }
}
