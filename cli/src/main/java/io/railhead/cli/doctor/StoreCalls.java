package io.railhead.cli.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNullElse;

import io.railhead.backend.BackendConfig;
import io.railhead.backend.BackendException;
import io.railhead.backend.BackendException.Reason;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Caller;
import io.railhead.backend.Capabilities;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.Target;
import io.railhead.backend.aws.AwsBackend;
import io.railhead.cli.OneLine;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Calls a store through the gateway's own connector, once for each question and with short time
 * limits. Only GET and HEAD: nothing is written. Blocks.
 */
final class StoreCalls implements AutoCloseable {
    /** The time limit of each question; a slower store is useless to a gateway. */
    static final Duration LIMIT = Duration.ofSeconds(3);
    private static final int CONNECTIONS = 16;
    private static final int MAX_ERROR_BYTES = 1 << 20;
    private static final Pattern CODE = Pattern.compile("<Code>([A-Za-z]+)</Code>");

    private final AwsBackend backend;

    /** Throws IllegalArgumentException if the certificate authority cannot be read. */
    StoreCalls(BackendConfig config, List<URI> endpoints) {
        backend = new AwsBackend(new BackendConfig(config.name(), endpoints, config.region(),
                config.ca(), config.pathStyle(), LIMIT, LIMIT, LIMIT, CONNECTIONS, 1,
                config.trailers(), BackendConfig.Fetches.of(CONNECTIONS),
                config.proxy()));
    }

    /**
     * A store's response.
     *
     * @param code the code of its error document; "" if there is none
     * @param sent just before the request, by this machine's clock
     * @param nanos until the response's head
     */
    record Answer(int status, Headers headers, String code, Instant sent, long nanos) {
        Instant received() {
            return sent.plusNanos(nanos);
        }

        boolean isSuccess() {
            return status >= 200 && status < 300;
        }

        /** Returns text such as "403 AccessDenied". */
        String words() {
            return code.isEmpty() ? String.valueOf(status) : status + " " + code;
        }
    }

    Answer head(Target target, Caller caller) {
        return ask("HEAD", target, caller);
    }

    Answer get(Target target, Caller caller) {
        return ask("GET", target, caller);
    }

    /** Returns the capabilities; empty if no object can be listed. */
    Optional<Capabilities> look(@Nullable String bucket, Caller caller) {
        return await(backend.look(bucket, caller), LIMIT.multipliedBy(2));
    }

    private Answer ask(String method, Target target, Caller caller) {
        Instant sent = Instant.now();
        long begun = System.nanoTime();
        BackendResponse response = await(backend.send(new BackendRequest(method, target,
                Headers.NONE, new Payload.Empty(), caller, LIMIT)), LIMIT);
        long nanos = System.nanoTime() - begun;
        byte[] body = await(BodyDrain.collect(response.body(), MAX_ERROR_BYTES), LIMIT);
        Matcher code = CODE.matcher(new String(body, UTF_8));
        return new Answer(response.status(), response.headers(),
                code.find() ? code.group(1) : "", sent, nanos);
    }

    /** Waits for a stage. Throws BackendException with one line. */
    private static <T> T await(CompletionStage<T> stage, Duration limit) {
        try {
            return stage.toCompletableFuture().get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new BackendException(Reason.LATE, "no answer within " + limit.toSeconds() + " s",
                    e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof BackendException own) {
                throw own;
            }
            throw new BackendException(Reason.BROKEN,
                    OneLine.of(requireNonNullElse(e.getCause(), e)),
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BackendException(Reason.UNSENT, "interrupted", e);
        }
    }

    @Override
    public void close() {
        backend.close();
    }
}
