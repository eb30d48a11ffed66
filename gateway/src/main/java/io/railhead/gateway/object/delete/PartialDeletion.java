package io.railhead.gateway.object.delete;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.object.delete.DeletionList.Entry;
import io.railhead.gateway.relay.ForwardedHeaders;
import io.railhead.gateway.relay.Relay;
import io.railhead.gateway.relay.StoreAnswers;
import io.railhead.gateway.relay.StoreErrors;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Digests;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A DeleteObjects request of which the policy allows only some keys. The store is asked to delete
 * those; the response refuses each other key, as S3 does. Event loop only.
 *
 * @param asked the allowed keys; if empty, the store is not asked
 */
record PartialDeletion(HttpExchange exchange, S3Request request, DeletionList list,
        List<Entry> asked,
        List<Entry> denied) {
    /** Ten times the length of S3's response for a thousand keys. */
    private static final int MAX_ANSWER_BYTES = 16 << 20;

    /** @param onOutcome receives the outcome of {@link Relay} */
    void start(Relay.OutcomeTaker onOutcome) {
        if (asked.isEmpty()) {
            answer(200, null, DeletionList.refusing(denied));
            return;
        }
        byte[] document = list.asking(asked);
        BackendRequest forwarded = new BackendRequest("POST", request.target(), headers(document),
                new Payload.Bytes(ByteBuffer.wrap(document)), request.caller(),
                Relay.patience(request));
        request.store()
                .send(forwarded)
                .whenComplete(StoreAnswers.to(exchange, (answer, failure) -> {
                    if (failure != null) {
                        exchange.after(onOutcome.take(new Relay.Outcome.Failed(failure)),
                                () -> exchange.fail(StoreErrors.of(failure)));
                    } else {
                        answered(answer, onOutcome);
                    }
                }));
    }

    /** Drops headers that describe the client's document: the store gets another one. */
    private Headers headers(byte[] document) {
        Headers.Builder headers = Headers.builder();
        ForwardedHeaders.toBackend(request.headers()).forEach((name, value) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            if (!lower.equals("content-md5") && !lower.startsWith("x-amz-checksum-")
                    && !lower.equals("x-amz-sdk-checksum-algorithm")) {
                headers.add(name, value);
            }
        });
        return headers
                .add("Content-MD5",
                        Base64.getEncoder().encodeToString(Digests.of("MD5").digest(document)))
                .build();
    }

    private void answered(BackendResponse answer, Relay.OutcomeTaker onOutcome) {
        if (answer.status() != 200) {
            exchange.after(onOutcome.take(new Relay.Outcome.Answered(answer)), () -> {
                if (exchange.isOver()) {
                    BodyDrain.discard(answer.body());
                } else {
                    Relay.pass(exchange, request.method(), answer);
                }
            });
            return;
        }
        BodyDrain.collect(answer.body(), MAX_ANSWER_BYTES)
                .whenComplete((body, failure) -> exchange.executor().execute(() -> {
                    if (failure != null) {
                        exchange.after(onOutcome.take(new Relay.Outcome.Failed(failure)),
                                () -> exchange.fail(StoreErrors.of(failure)));
                    } else {
                        exchange.after(onOutcome.take(new Relay.Outcome.Answered(answer)),
                                () -> merge(answer, new String(body, StandardCharsets.UTF_8)));
                    }
                }));
    }

    private void merge(BackendResponse answer, String body) {
        String merged = DeletionList.merge(body, denied);
        if (merged == null) {
            exchange.fail(new S3Refusal(S3Error.INTERNAL_ERROR,
                    "What the store answered to DeleteObjects is not understood."));
        } else {
            answer(answer.status(), answer.headers(), merged);
        }
    }

    private void answer(int status, @Nullable Headers headers, String document) {
        if (exchange.isOver()) {
            return;
        }
        Buffer body = Buffer.buffer(document);
        HttpServerResponse response = exchange.answer(status);
        if (headers != null) {
            ForwardedHeaders.toClient(headers, response);
        }
        response.putHeader("x-cache", "BYPASS");
        response.putHeader("content-type", "application/xml");
        response.putHeader("content-length", Integer.toString(body.length()));
        exchange.end(body);
    }
}
