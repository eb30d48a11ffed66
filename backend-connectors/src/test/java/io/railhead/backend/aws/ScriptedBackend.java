package io.railhead.backend.aws;

import io.railhead.backend.BackendConfig;
import io.railhead.backend.Caller;
import io.railhead.backend.Rate;
import io.railhead.backend.testing.Calls;
import io.railhead.backend.testing.ScriptedStore;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.retries.api.BackoffStrategy;

/** Backends with short timeouts and a stopped clock, in front of scripted stores. */
final class ScriptedBackend {
    static final Caller.Credential CREDENTIAL = new Caller.Credential("AKIDEXAMPLE", "secret",
            null);
    static final int CONNECTIONS = 4;
    static final Duration SHORT = Duration.ofMillis(300);
    static final Duration LONG = Duration.ofSeconds(60);

    private ScriptedBackend() {}

    /** What a test wants otherwise than usual. */
    record Options(boolean pathStyle, Duration answerTimeout, Duration idleTimeout,
            int maxAttempts, @Nullable Path ca, BackendConfig.@Nullable Proxy proxy,
            Rate rate) {
        static final Options USUAL = new Options(true, LONG, LONG, 4, null, null,
                Rate.NONE);

        Options answering(Duration timeout) {
            return new Options(pathStyle, timeout, idleTimeout, maxAttempts, ca, proxy, rate);
        }

        Options idling(Duration timeout) {
            return new Options(pathStyle, answerTimeout, timeout, maxAttempts, ca, proxy, rate);
        }

        Options attempting(int attempts) {
            return new Options(pathStyle, answerTimeout, idleTimeout, attempts, ca, proxy, rate);
        }

        Options allowing(Rate other) {
            return new Options(pathStyle, answerTimeout, idleTimeout, maxAttempts, ca, proxy,
                    other);
        }

        Options virtualHost() {
            return new Options(false, answerTimeout, idleTimeout, maxAttempts, ca, proxy, rate);
        }

        Options by(BackendConfig.Proxy named) {
            return new Options(pathStyle, answerTimeout, idleTimeout, maxAttempts, ca, named, rate);
        }

        Options trusting(Path pem) {
            return new Options(pathStyle, answerTimeout, idleTimeout, maxAttempts, pem, proxy,
                    rate);
        }
    }

    static AwsBackend over(Options options, URI... endpoints) {
        return over(options, Clock.fixed(Instant.parse("2026-11-20T12:00:00Z"), ZoneOffset.UTC),
                endpoints);
    }

    /** @param clock that requests are signed by */
    static AwsBackend over(Options options, Clock clock, URI... endpoints) {
        Tuning tuning = new Tuning(BackoffStrategy.fixedDelayWithoutJitter(Duration.ofMillis(5)),
                3, BackoffStrategy.fixedDelayWithoutJitter(Duration.ofMillis(20)));
        BackendConfig config = new BackendConfig("scripted", List.of(endpoints), "eu-test-1",
                options.ca(), options.pathStyle(), Duration.ofSeconds(1),
                options.answerTimeout(), options.idleTimeout(), CONNECTIONS, options.maxAttempts(),
                BackendConfig.TrailerPolicy.AUTO, BackendConfig.Fetches.of(CONNECTIONS),
                options.proxy(), options.rate());
        return new AwsBackend(config, tuning, clock);
    }

    static AwsBackend over(Options options, ScriptedStore store) {
        return over(options, store.endpoint());
    }

    static Calls calls(AwsBackend backend) {
        return new Calls(backend, "bucket", CREDENTIAL);
    }

    static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + LONG.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("waited in vain");
            }
            Thread.onSpinWait();
        }
    }
}
