package io.railhead.gateway.operation;

import io.railhead.backend.Headers;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.authorization.Grant;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.fill.ObjectHeaders;
import io.railhead.gateway.freshness.FreshnessCheck;
import io.railhead.gateway.freshness.Probe;
import io.railhead.gateway.http.Exchange;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Exception;
import io.vertx.core.http.HttpServerResponse;

/**
 * HeadObject: from memory where that is allowed and fresh, else by the very HEAD that would be
 * asked.
 */
final class HeadObject implements Operation {
    private final ReadServices services;
    private final Backing backing;

    HeadObject(ReadServices services) {
        this.services = services;
        this.backing = new Backing(services);
    }

    @Override
    public void handle(Exchange exchange, S3Request request) {
        AnswerHead.requireSendableOverrides(request);
        boolean plain = ObjectReads.isCacheable(request) && request.header("range") == null
                && request.header("if-match") == null;
        if (!plain) {
            services.relay().handle(exchange, request);
            return;
        }
        ObjectId id = request.objectId();
        Grant grant = ObjectReads.grant(request, id);
        ObjectMetadata held = services.cache().find(id);
        if (held != null && mayServe(held, request.route().rule(), grant)) {
            answer(exchange, request, held, CacheResult.HIT);
            return;
        }
        backing.probe(request, id, grant)
                .whenComplete((probe, failure) -> exchange.executor()
                        .execute(
                                () -> answer(exchange, request,
                                        failure == null
                                                ? probe
                                                : new Probe.Unanswered(String.valueOf(failure)))));
    }

    private boolean mayServe(ObjectMetadata held, Rule rule, Grant grant) {
        return ObjectHeaders.isComplete(held)
                && services.grants().isGranted(grant, rule.rememberAuthorization())
                && FreshnessCheck.isFresh(rule.freshness(), held, services.nanoClock().getAsLong(),
                        services.cache().isBeingWritten(held.version().object()));
    }

    private void answer(Exchange exchange, S3Request request, Probe probe) {
        if (exchange.isOver()) {
            return;
        }
        switch (probe) {
            case Probe.Found(ObjectMetadata metadata) ->
                answer(exchange, request, metadata, CacheResult.REVALIDATED);
            case Probe.Uncacheable(Headers headers) -> passHead(exchange, 200, headers);
            case Probe.Refused(int status, Headers headers) -> passHead(exchange, status, headers);
            case Probe.Unanswered(String reason) ->
                exchange.fail(new S3Exception(S3Error.SERVICE_UNAVAILABLE,
                        "The store behind the gateway did not answer: " + reason));
        }
    }

    private void answer(Exchange exchange, S3Request request, ObjectMetadata metadata,
            CacheResult result) {
        services.metrics().cacheResults.labels(result.label()).inc();
        ReadPlan whole = new ReadPlan(metadata, 0, metadata.version().sizeBytes(), 200);
        AnswerHead.write(exchange, request, whole, result).end();
    }

    private static void passHead(Exchange exchange, int status, Headers headers) {
        HttpServerResponse response = exchange.answer(status);
        ForwardedHeaders.toClient(headers, response);
        response.putHeader("x-cache", "BYPASS");
        response.end();
    }
}
