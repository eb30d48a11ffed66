package io.railhead.gateway.channel;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.channel.ChannelCounts.Outcome;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.RdmaDelivery.Written;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.object.read.Destination;
import io.railhead.gateway.object.read.ObjectRead;
import io.railhead.gateway.object.read.RdmaGet;
import io.railhead.gateway.relay.StoreAnswers;
import io.railhead.gateway.relay.StoreErrors;
import io.railhead.gateway.request.ResponseSink;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerOrigin;
import io.railhead.rdma.RemoteWindows;

/** A GET into the peer's memory, answered over its channel. */
record ChannelGet(ChannelExchange exchange, S3Request request,
        RemoteWindows windows) implements Destination {

    @Override
    public ResponseSink requester() {
        return exchange;
    }

    @Override
    public void deliver(ObjectRead read, ReadPlan plan, CacheResult expected) {
        exchange.touch();
        ReadPlan clipped = plan.clippedTo(windows.length());
        exchange.moves(clipped.length());
        new RdmaGet(read, clipped, expected, windows, new Told(exchange)).start();
    }

    private record Told(ChannelExchange exchange) implements RdmaGet.Client {

        @Override
        public void delivered(ReadPlan plan, CacheResult result) {
            exchange.answer(Outcome.DELIVERED, answer(exchange.id(), plan, result));
        }

        @Override
        public void declined(String reason) {
            exchange.release();
            exchange.decline(reason);
        }

        @Override
        public void begunAnew(Written written) {
            exchange.begunAnew(written);
        }

        @Override
        public void broken(S3Refusal error) {
            exchange.fail(error);
        }
    }

    private static Answer answer(int id, ReadPlan plan, CacheResult result) {
        ObjectMetadata metadata = plan.metadata();
        return Answer.delivered(id, plan.status(), plan.length(), plan.sizeBytes(), plan.from(),
                AnswerTexts.lastModifiedMillis(metadata.headers().get("last-modified")),
                metadata.version().etag(), metadata.version().versionId(), wire(result));
    }

    static AnswerOrigin wire(CacheResult result) {
        return switch (result) {
            case HIT -> AnswerOrigin.HIT;
            case REVALIDATED -> AnswerOrigin.REVALIDATED;
            case STALE -> AnswerOrigin.STALE;
            case MISS -> AnswerOrigin.MISS;
            case BYPASS -> AnswerOrigin.NONE;
        };
    }

    @Override
    public void uncacheable() {
        exchange.decline("uncacheable");
    }

    /** Asks the store for one byte: only its refusal is wanted. */
    @Override
    public void refused() {
        Headers.Builder headers = Headers.builder().add("Range", firstByte());
        String ifMatch = request.header("if-match");
        if (ifMatch != null) {
            headers.add("If-Match", ifMatch);
        }
        request.store()
                .send(new BackendRequest("GET", request.objectTarget(), headers.build(),
                        new Payload.Empty(), request.caller(), null))
                .whenComplete(StoreAnswers.to(exchange, (answer, failure) -> {
                    S3Refusal ours = failure == null ? null : StoreErrors.ofCache(failure);
                    if (ours != null) {
                        exchange.fail(ours);
                    } else if (failure != null) {
                        exchange.decline("store");
                    } else {
                        refused(answer);
                    }
                }));
    }

    @Override
    public void unsatisfiable() {
        exchange.fail(new S3Refusal(S3Error.INVALID_RANGE));
    }

    private String firstByte() {
        String range = request.header("range");
        return range == null ? "bytes=0-0" : range;
    }

    @Override
    public void refused(BackendResponse answer) {
        if (answer.isSuccess()) {
            BodyDrain.discard(answer.body());
            exchange.decline("changed");
        } else {
            exchange.refuse(answer);
        }
    }
}
