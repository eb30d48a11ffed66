package io.railhead.gateway.relay;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Caller;
import io.railhead.backend.ContentRange;
import io.railhead.backend.FixedBody;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.cache.Peers;
import io.railhead.gateway.http.BodyRelay;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.http.Operation;
import io.railhead.gateway.http.RequestBody;
import io.railhead.gateway.http.VerifiedBody;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.request.ByteRange;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.ErrorXml;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.body.BodyReader;
import io.vertx.core.http.HttpServerResponse;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;

/**
 * Relays every request that is not an object read. The request was verified before; it is signed
 * again for the backend and forwarded unchanged. The backend's response is passed on unchanged.
 * Both bodies flow with back-pressure.
 *
 * <p> A long class: the other operations pass a store's response on by the same steps.
 */
public final class Relay implements Operation {
    /** Longer than any client waits, so the client's own timeout decides. */
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final int MAX_REFUSAL_BYTES = 16 << 10;
    private static final CompletionStage<?> AT_ONCE = Peers.NOBODY;

    private final Metrics metrics;

    public Relay(Metrics metrics) {
        this.metrics = metrics;
    }

    /**
     * The outcome of a relayed request, reported before the client sees it. Some stores begin a
     * response before their work is done, for example while they copy. The outcome is then known
     * with the response's last byte.
     */
    public sealed interface Outcome {

        /** The backend sent a response. */
        record Answered(BackendResponse answer) implements Outcome {}

        /** The backend sent no usable response: a write may or may not have happened. */
        record Failed(Throwable cause) implements Outcome {}

        /** The store did not get the whole body and reported no success: nothing was written. */
        record Unsent() implements Outcome {}
    }

    /** Takes the outcome of a relayed request on the event loop, once. */
    @FunctionalInterface
    public interface OutcomeTaker {

        /** @return completes when the client may learn the outcome; never fails */
        CompletionStage<?> take(Outcome outcome);
    }

    @Override
    public void handle(HttpExchange httpExchange, S3Request request) {
        metrics.cacheResults.labels("bypass").inc();
        forward(httpExchange, request, outcome -> AT_ONCE);
    }

    /** Observes a verified body on its way; its length is -1 if no header tells it. */
    @FunctionalInterface
    public interface Tap {
        Publisher<ByteBuffer> on(Publisher<ByteBuffer> body, long length);
    }

    /** @param onOutcome called once on the event loop before the response ends */
    public void forward(HttpExchange httpExchange, S3Request request, OutcomeTaker onOutcome) {
        forward(httpExchange, request, (body, length) -> body, onOutcome);
    }

    public void forward(HttpExchange httpExchange, S3Request request, Tap tap,
            OutcomeTaker onOutcome) {
        BodyReader reader = reader(request);
        if (!hasBody(request)) {
            reader.end(_ -> {});
            forward(httpExchange, request, new Payload.Empty(), onOutcome);
            return;
        }
        RequestBody body = new RequestBody(httpExchange, reader);
        if (reader.decodedLength() == 0) {
            forwardEmpty(httpExchange, request, reader, body, onOutcome);
            return;
        }
        Payload payload = stream(tap.on(body, reader.decodedLength()), reader,
                reader.decodedLength());
        forward(httpExchange, request, payload, body, onOutcome);
    }

    /**
     * Forwards an empty body. Its end is verified first, since there is no last piece to hold back.
     */
    private void forwardEmpty(HttpExchange httpExchange, S3Request request, BodyReader reader,
            RequestBody body, OutcomeTaker onOutcome) {
        BodyDrain.collect(body, 0).whenComplete((none, failure) -> httpExchange.attempt(() -> {
            try {
                if (failure != null) {
                    throw failure instanceof S3Refusal refused
                            ? refused
                            : new CompletionException(failure);
                }
                forward(httpExchange, request,
                        stream(new FixedBody(ByteBuffer.allocate(0)), reader, 0),
                        body, onOutcome);
            } catch (RuntimeException | Error e) {
                httpExchange.after(onOutcome.take(new Outcome.Unsent()), () -> {
                    throw e;
                });
            }
        }));
    }

    /** Sends the request without a body; the consumer gets the response on the event loop. */
    public void ask(HttpExchange httpExchange, S3Request request,
            Consumer<BackendResponse> onAnswer) {
        request.store()
                .send(new BackendRequest(request.method(), request.target(),
                        ForwardedHeaders.toBackend(request.headers()), new Payload.Empty(),
                        request.caller(), patience(request)))
                .whenComplete(StoreAnswers.to(httpExchange, (answer, failure) -> {
                    if (failure != null) {
                        httpExchange.fail(StoreErrors.of(failure));
                    } else if (httpExchange.isOver()) {
                        BodyDrain.discard(answer.body());
                    } else {
                        BackendResponse told = EmptyParts.asS3(request, answer);
                        S3Refusal another = anotherPart(request, told);
                        if (another == null) {
                            onAnswer.accept(told);
                        } else {
                            BodyDrain.discard(answer.body());
                            httpExchange.fail(another);
                        }
                    }
                }));
    }

    /** Returns the backend's view of the body that {@code reader} verifies. */
    public static Payload stream(Publisher<ByteBuffer> body, BodyReader reader, long length) {
        Map<String, Supplier<String>> trailers = new LinkedHashMap<>();
        reader.trailerNames()
                .forEach(name -> trailers.put(name, () -> reader.trailerChecksum(name)));
        return new Payload.Stream(body, length, reader.forwardedSha256(), trailers);
    }

    public void forward(HttpExchange httpExchange, S3Request request, Payload payload,
            OutcomeTaker onOutcome) {
        forward(httpExchange, request, payload, null, onOutcome);
    }

    /**
     * Opens a body's reader. The checksum headers of a completion describe the object, not the
     * completion's document.
     */
    private static BodyReader reader(S3Request request) {
        if (request.isPassedThrough()) {
            return BodyReader.untouched(request.headers());
        }
        boolean completes = request.method().equals("POST") && request.query().has("uploadId");
        return completes
                ? BodyReader.openWithoutChecksums(request.authentication(), request.headers())
                : BodyReader.open(request.authentication(), request.headers());
    }

    /** Returns whether bytes follow the head: an empty aws-chunked body still has framing. */
    private static boolean hasBody(S3Request request) {
        String length = request.header("content-length");
        return request.header("transfer-encoding") != null
                || (length != null && !length.equals("0"));
    }

    /** @param body the body, whose own failure is reported to the client; null if there is none */
    public void forward(HttpExchange httpExchange, S3Request request, Payload payload,
            @Nullable RequestBody body,
            OutcomeTaker onOutcome) {
        Headers headers = request.isPassedThrough()
                ? ForwardedHeaders.untouched(request.headers())
                : ForwardedHeaders.toBackend(request.headers());
        BackendRequest forwarded = new BackendRequest(request.method(), request.target(), headers,
                payload,
                request.caller(), patience(request));
        request.store()
                .send(forwarded)
                .whenComplete(StoreAnswers.to(httpExchange, (answer, failure) -> {
                    if (failure == null) {
                        pass(httpExchange, request, answer, body, onOutcome);
                    } else {
                        Throwable cause = cause(failure, body);
                        httpExchange.after(onOutcome.take(isUnsent(body)
                                ? new Outcome.Unsent()
                                : new Outcome.Failed(failure)), () -> httpExchange.fail(cause));
                        if (body != null) {
                            // A body that was reported as unsent must not be sent afterwards.
                            body.abort(failure);
                        }
                    }
                }));
    }

    /**
     * Returns whether the store lacks at least the body's last piece at its response or failure.
     */
    public static boolean isUnsent(@Nullable VerifiedBody body) {
        return body != null && !body.isComplete();
    }

    /**
     * Returns the timeout for operations during which a store works before or while it answers;
     * null for the backend's own timeout.
     */
    public static @Nullable Duration patience(S3Request request) {
        boolean works = request.header("x-amz-copy-source") != null
                || (request.method().equals("POST") && (request.query().has("uploadId")
                        || request.query().has("delete") || request.query().has("select")));
        return works ? PATIENCE : null;
    }

    private void pass(HttpExchange httpExchange, S3Request request, BackendResponse stores,
            @Nullable RequestBody body, OutcomeTaker onOutcome) {
        BackendResponse answer = EmptyParts.asS3(request, stores);
        Ending ending = new Ending(answer, isUnsent(body), onOutcome);
        if (httpExchange.isOver() || httpExchange.isAnswered()) {
            BodyDrain.discard(answer.body());
            ending.end(false);
            return;
        }
        Throwable failure = body == null ? anotherPart(request, answer) : failure(body, answer);
        if (failure != null) {
            BodyDrain.discard(answer.body());
            httpExchange.after(ending.end(false), () -> httpExchange.fail(failure));
            return;
        }
        httpExchange.onClosed(() -> ending.end(false));
        httpExchange.after(ending.told(), () -> {
            if (httpExchange.isOver() || httpExchange.isAnswered()) {
                BodyDrain.discard(answer.body());
            } else {
                pass(httpExchange, request.method(),
                        ObjectLocation.seenByClient(answer, httpExchange, request), ending::end);
            }
        });
    }

    /**
     * Returns the refusal if a read's response is another part than requested; null if it is right.
     */
    private @Nullable S3Refusal anotherPart(S3Request request, BackendResponse answer) {
        if (!isAnotherPart(request, answer)) {
            return null;
        }
        metrics.integrityFailures.labels("relay").inc();
        return new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                "The store behind the gateway sent another part than it was asked for.");
    }

    /**
     * Returns whether a partial response is another part than requested, or has another length than
     * it declares.
     */
    private static boolean isAnotherPart(S3Request request, BackendResponse answer) {
        if (answer.status() != 206 || !request.method().equals("GET")) {
            return false;
        }
        ContentRange part = ContentRange.tryParse(answer.headers().get("content-range"));
        ByteRange asked = request.range();
        if (part == null) {
            // Several ranges give no single part.
            return asked != null || !isForPart(request);
        }
        String length = answer.headers().get("content-length");
        return !isForPart(request)
                || (length != null && !length.equals(Long.toString(part.lengthBytes())))
                || (asked != null && (asked.from(part.size()) != part.first()
                        || asked.to(part.size()) != part.last() + 1));
    }

    private static boolean isForPart(S3Request request) {
        return request.header("range") != null || request.query().has("partNumber");
    }

    /** Returns why the upload did not succeed, whatever the response says; null if it did. */
    public static @Nullable Throwable failure(VerifiedBody body, BackendResponse answer) {
        if (body.failure() != null) {
            return body.failure();
        }
        return answer.isSuccess() && !body.isComplete()
                ? new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                        "The store behind the gateway answered before it had the body.")
                : null;
    }

    /** Reports the outcome once: at the end of the response's body, or now if the head decides. */
    private static final class Ending {
        private final BackendResponse answer;
        private final OutcomeTaker onOutcome;
        private @Nullable CompletionStage<?> told;

        Ending(BackendResponse answer, boolean unsent, OutcomeTaker onOutcome) {
            this.answer = answer;
            this.onOutcome = onOutcome;
            boolean isTold = !answer.isSuccess() || answer.status() == 204
                    || "0".equals(answer.headers().get("content-length"));
            if (isTold) {
                told = onOutcome.take(unsent && !answer.isSuccess()
                        ? new Outcome.Unsent()
                        : new Outcome.Answered(answer));
            }
        }

        /** Returns when the client may learn what is known up to now. */
        CompletionStage<?> told() {
            return told == null ? AT_ONCE : told;
        }

        /** @return completes when the client may see the last byte */
        CompletionStage<?> end(boolean complete) {
            CompletionStage<?> before = told;
            if (before != null) {
                return before;
            }
            told = AT_ONCE;
            CompletionStage<?> now = onOutcome.take(complete
                    ? new Outcome.Answered(answer)
                    : new Outcome.Failed(
                            new IllegalStateException("the answer was not heard to its end")));
            told = now;
            return now;
        }
    }

    /** Passes a response on unchanged. */
    public static void pass(HttpExchange httpExchange, String method, BackendResponse answer) {
        pass(httpExchange, method, answer, complete -> AT_ONCE);
    }

    /**
     * @param onEnd learns whether the body was complete; the client does when the returned stage
     *            has completed
     */
    private static void pass(HttpExchange httpExchange, String method, BackendResponse answer,
            Function<Boolean, CompletionStage<?>> onEnd) {
        S3Request asked = httpExchange.asked();
        if (asked == null || !mayRefuseCredential(asked, answer)) {
            send(httpExchange, method, answer, onEnd);
            return;
        }
        BodyDrain.collect(answer.body(), MAX_REFUSAL_BYTES)
                .whenComplete((document, failure) -> httpExchange.executor().execute(() -> {
                    S3Refusal ours = failure == null
                            ? StoreErrors.credentialRefusal(asked.principal(),
                                    ErrorXml.code(ByteBuffer.wrap(document)))
                            : null;
                    if (failure != null || ours != null) {
                        httpExchange.after(onEnd.apply(false), () -> httpExchange
                                .fail(ours == null ? StoreErrors.of(failure) : ours));
                    } else if (!httpExchange.isOver()) {
                        send(httpExchange, method, new BackendResponse(answer.status(),
                                answer.headers(), new FixedBody(ByteBuffer.wrap(document))),
                                onEnd);
                    }
                }));
    }

    /**
     * Returns whether the response is an error with a short document, to a request that the gateway
     * signed.
     */
    private static boolean mayRefuseCredential(S3Request asked, BackendResponse answer) {
        boolean refused = answer.status() == 400 || answer.status() == 403;
        boolean isOurs = asked.caller() instanceof Caller.Credential
                || asked.caller().isProvided();
        String length = answer.headers().get("content-length");
        return refused && isOurs && !asked.method().equals("HEAD") && length != null
                && length.length() <= 5 && Integer.parseInt(length) <= MAX_REFUSAL_BYTES;
    }

    private static void send(HttpExchange httpExchange, String method, BackendResponse answer,
            Function<Boolean, CompletionStage<?>> onEnd) {
        HttpServerResponse response = httpExchange.answer(answer.status());
        try {
            ForwardedHeaders.toClient(answer.headers(), response);
        } catch (RuntimeException | Error e) {
            // A header that cannot be sent must not hold the backend's connection.
            BodyDrain.discard(answer.body());
            throw e;
        }
        response.putHeader("x-cache", "BYPASS");
        boolean bodiless = method.equals("HEAD") || answer.status() == 204
                || answer.status() == 304;
        long expected = bodiless ? 0 : lengthBytes(answer);
        if (expected < 0) {
            httpExchange.unsized();
        } else if (!bodiless) {
            response.putHeader("content-length", Long.toString(expected));
        }
        if (!bodiless) {
            httpExchange.moves(expected < 0 ? Long.MAX_VALUE : expected);
        }
        answer.body()
                .subscribe(new BodyRelay(httpExchange, response, expected, () -> onEnd.apply(true),
                        outcome -> {
                            httpExchange.relayed(outcome.bytes());
                            httpExchange.after(onEnd.apply(outcome.complete()),
                                    () -> ended(httpExchange, response, outcome));
                        }));
    }

    private static void ended(HttpExchange httpExchange, HttpServerResponse response,
            BodyRelay.Outcome outcome) {
        if (outcome.complete()) {
            response.end();
        } else {
            httpExchange.cut("backend");
        }
    }

    /** Returns the body's length, for a part also from its range; -1 if unknown. */
    private static long lengthBytes(BackendResponse answer) {
        String length = answer.headers().get("content-length");
        if (length != null) {
            return Long.parseLong(length);
        }
        ContentRange part = answer.status() == 206
                ? ContentRange.tryParse(answer.headers().get("content-range"))
                : null;
        return part == null ? -1 : part.lengthBytes();
    }

    /** Returns what the client is told of a failure: its own body's fault comes first. */
    private static Throwable cause(Throwable failure, @Nullable RequestBody body) {
        Throwable declared = body == null ? null : body.failure();
        return declared != null ? declared : StoreErrors.of(failure);
    }
}
