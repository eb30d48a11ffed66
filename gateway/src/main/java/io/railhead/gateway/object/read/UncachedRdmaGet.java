package io.railhead.gateway.object.read;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.delivery.BouncePages;
import io.railhead.gateway.delivery.RdmaDelivery;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.rdma.RdmaErrors;
import io.railhead.gateway.relay.ForwardedHeaders;
import io.railhead.gateway.relay.Relay;
import io.railhead.protocol.token.DialectReply;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpServerResponse;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Delivers the store's own response into the client's memory, when the cache may not serve. Event
 * loop only.
 */
final class UncachedRdmaGet implements RdmaDelivery.Outcome {
    private final TokenDestination memory;
    private final HttpExchange httpExchange;
    private final ReadServices services;
    private @Nullable BackendResponse answer;
    private long length;

    UncachedRdmaGet(TokenDestination memory) {
        this.memory = memory;
        this.httpExchange = memory.exchange();
        this.services = memory.services();
    }

    void start() {
        services.metrics().cacheResults.labels("bypass").inc();
        services.relay().ask(httpExchange, memory.request(), this::answered);
    }

    private void answered(BackendResponse newAnswer) {
        answer = newAnswer;
        if (!newAnswer.isSuccess()) {
            Relay.pass(httpExchange, memory.request().method(), newAnswer);
            return;
        }
        length = length(newAnswer);
        if (length < 0) {
            giveUp(newAnswer, "uncacheable");
        } else if (!services.deadlines().isOpen(httpExchange.arrivedAtNanos())) {
            giveUp(newAnswer, "slow");
        } else if (length > memory.buffer().length()) {
            giveUp(newAnswer, "window");
        } else if (length == 0) {
            BodyDrain.discard(newAnswer.body());
            delivered();
        } else {
            transfer(newAnswer);
        }
    }

    /** Returns the number of the object's bytes in the body; -1 if the body holds anything else. */
    private static long length(BackendResponse answer) {
        String length = answer.headers().get("content-length");
        boolean plain = answer.status() == 200
                || (answer.status() == 206 && answer.headers().contains("content-range"));
        try {
            return plain && length != null ? Long.parseLong(length) : -1;
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    /** Declines before any write, and passes the unread body on. */
    private void giveUp(BackendResponse unread, String reason) {
        memory.passDeclined(unread, reason);
    }

    private void transfer(BackendResponse newAnswer) {
        Transfer transfer;
        try {
            transfer = services.fabric().begin(memory.buffer());
        } catch (TransferException e) {
            if (e.reason() == TransferException.Reason.UNAVAILABLE) {
                giveUp(newAnswer, "fabric");
            } else {
                BodyDrain.discard(newAnswer.body());
                broken(e);
            }
            return;
        }
        BouncePages body = new BouncePages(services.cache(), newAnswer.body(), length,
                services.runBytes(), httpExchange.executor());
        RdmaDelivery delivery = new RdmaDelivery(httpExchange, services.vertx(),
                body.watching(transfer), 0, services.deadlines(), this);
        body.into(delivery);
        delivery.start(body);
    }

    @Override
    public void delivered() {
        BackendResponse told = answer;
        if (told == null || httpExchange.isOver()) {
            return;
        }
        String bucket = memory.request().objectId().bucket();
        services.metrics().delivered(bucket, "bypass", memory.buffer().session().fabric(), length);
        services.metrics().usage.served(memory.request().tenant(), bucket, length);
        TokenDestination.count(memory.dialect(), services, "delivered");
        httpExchange.movedByRdma(memory.buffer().session().fabric(), length);
        HttpServerResponse response = httpExchange.answer(told.status());
        ForwardedHeaders.toClient(told.headers(), response);
        if (!AnswerHead.wantsChecksums(memory.request())) {
            hideChecksums(response.headers());
        }
        response.putHeader("x-cache", "BYPASS");
        new DialectReply(told.status(), length).headers().forEach(response::putHeader);
        response.putHeader("content-length", "0");
        response.end();
    }

    /** Removes checksums: clients would compare them with the empty body. */
    private static void hideChecksums(MultiMap headers) {
        List.copyOf(headers.names())
                .stream()
                .filter(name -> name.toLowerCase(Locale.ROOT).startsWith("x-amz-checksum-"))
                .forEach(headers::remove);
    }

    /** Declines after the body was begun, so the object is requested again. */
    @Override
    public void declined(String reason) {
        memory.decline(reason);
    }

    @Override
    public void broken(Throwable cause) {
        TokenDestination.count(memory.dialect(), services, "broken");
        httpExchange.fail(RdmaErrors.of(cause));
    }
}
