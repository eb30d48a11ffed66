package io.railhead.gateway.object.read;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Requests;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.Peers;
import io.railhead.gateway.authorization.AuthorizationKey;
import io.railhead.gateway.fill.ObjectHeaders;
import io.railhead.gateway.freshness.NegativeCache;
import io.railhead.gateway.freshness.Probe;
import io.railhead.gateway.freshness.Revalidations;
import io.railhead.gateway.request.S3Request;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * Asks the backend about one object under the principal's own identity. One HEAD shows both whether
 * the cached version is current and whether this principal may read it. Objects with further guards
 * need a one-byte GET as well. Any thread.
 */
public final class ObjectProbe {
    private final ReadServices services;

    public ObjectProbe(ReadServices services) {
        this.services = services;
    }

    /** Sends a probe, or joins one of the same principal that is sent after this call. */
    public CompletionStage<Probe> probe(S3Request request, ObjectId id,
            AuthorizationKey authorizationKey) {
        boolean reads = !request.method().equals("HEAD");
        return services.revalidations()
                .join(new Revalidations.Question(authorizationKey, reads),
                        () -> send(request, id, authorizationKey, reads));
    }

    private CompletionStage<Probe> send(S3Request request, ObjectId id,
            AuthorizationKey authorizationKey,
            boolean reads) {
        ObjectHeaders.Moment sent = services.now(id);
        Backend backend = request.store();
        return backend.send(Requests.head(request.objectTarget(), request.caller()))
                .handle((answer, failure) -> failure != null
                        ? after(Peers.NOBODY, new Probe.Unanswered(failure))
                        : read(answer, id, authorizationKey, sent))
                .thenCompose(Function.identity())
                .thenCompose(probe -> reads && probe instanceof Probe.Found found
                        && ObjectHeaders.isGuarded(found.metadata())
                        && !services.grants().isGranted(authorizationKey, request.route().rule())
                                ? readByte(request, authorizationKey, sent, found)
                                : CompletableFuture.completedStage(probe));
    }

    private CompletionStage<Probe> readByte(S3Request request, AuthorizationKey authorizationKey,
            ObjectHeaders.Moment sent, Probe.Found found) {
        return request.store()
                .send(Requests.rangedGet(request.objectTarget(), request.caller(), 0, 1,
                        found.metadata().version().etag()))
                .handle((answer, failure) -> {
                    if (failure != null) {
                        return new Probe.Unanswered(failure);
                    }
                    BodyDrain.discard(answer.body());
                    return proved(answer, authorizationKey, sent, found);
                });
    }

    private Probe proved(BackendResponse answer, AuthorizationKey authorizationKey,
            ObjectHeaders.Moment sent,
            Probe.Found found) {
        if (answer.status() >= 500) {
            return new Probe.Failed(answer.status(), answer.headers());
        }
        if (answer.status() == 206) {
            services.grants().grant(authorizationKey, sent.nanos(), sent.generation());
            return found;
        }
        services.grants().revoke(authorizationKey);
        return new Probe.Refused(answer.status(), answer.headers());
    }

    private static CompletionStage<Probe> after(CompletionStage<Void> heard, Probe probe) {
        return heard.thenApply(_ -> probe);
    }

    /** Completes when no gateway of this cache serves what the response has refuted. */
    private CompletionStage<Probe> read(BackendResponse answer, ObjectId id,
            AuthorizationKey authorizationKey, ObjectHeaders.Moment sent) {
        BodyDrain.discard(answer.body());
        if (answer.status() >= 500) {
            return after(Peers.NOBODY, new Probe.Failed(answer.status(), answer.headers()));
        }
        if (!answer.isSuccess()) {
            services.grants().revoke(authorizationKey);
            CompletionStage<Void> heard = Peers.NOBODY;
            if (answer.status() == 404) {
                heard = services.cache().evict(id);
                if (!NegativeCache.isDeleteMarker(answer.headers())) {
                    services.absences()
                            .learn(authorizationKey, NegativeCache.Said.BY_STATUS, sent.nanos(),
                                    sent.generation());
                }
            }
            return after(heard, new Probe.Refused(answer.status(), answer.headers()));
        }
        ObjectMetadata metadata = metadata(answer, id, sent);
        boolean isGuarded = metadata != null && ObjectHeaders.isGuarded(metadata);
        services.grants()
                .grant(isGuarded ? authorizationKey.toDescribe() : authorizationKey, sent.nanos(),
                        sent.generation());
        if (metadata == null) {
            return after(services.cache().evict(id), new Probe.Uncacheable(answer.headers()));
        }
        return after(services.cache().learnForAll(metadata), new Probe.Found(metadata));
    }

    private static @org.jspecify.annotations.Nullable ObjectMetadata metadata(
            BackendResponse answer, ObjectId id,
            ObjectHeaders.Moment sent) {
        String length = answer.headers().get("content-length");
        if (length == null) {
            return null;
        }
        return ObjectHeaders.metadata(id, answer.headers(), Long.parseLong(length), sent,
                ObjectHeaders.Source.HEAD);
    }
}
