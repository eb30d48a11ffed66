package io.railhead.backend.aws;

import io.railhead.backend.BackendException;
import io.railhead.backend.Caller;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.identity.spi.AwsSessionCredentialsIdentity;
import software.amazon.awssdk.utils.SdkAutoCloseable;

/**
 * A credential of the SDK's provider, which reads files and calls other machines; callers never
 * wait for that. A virtual thread asks the provider, one call at a time. The last credential is
 * used meanwhile, until it expires. The SDK's providers renew their credentials in time, so they
 * are asked often. Any thread.
 */
final class ProvidedCredential implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ProvidedCredential.class);
    private static final Duration ASKED_AGAIN = Duration.ofSeconds(5);

    private final String name;
    private final AwsCredentialsProvider provider;
    private final LongSupplier nanoClock;
    private final AtomicReference<@Nullable CompletableFuture<Caller.Credential>> asking = new AtomicReference<>();
    private volatile @Nullable Given last;
    private volatile @Nullable Long failedAtNanos;

    /** @param expires null for never */
    private record Given(Caller.Credential credential, @Nullable Instant expires,
            long askedAtNanos) {}

    /** @param name of the provider, in messages */
    ProvidedCredential(String name, AwsCredentialsProvider provider, LongSupplier nanoClock) {
        this.name = name;
        this.provider = provider;
        this.nanoClock = nanoClock;
    }

    /**
     * Returns the credential to sign with now; fails with {@link BackendException} if there is
     * none.
     */
    CompletionStage<Caller.Credential> now() {
        Given given = last;
        if (given == null || isExpired(given)) {
            return hasJustFailed() ? CompletableFuture.failedStage(none(null)) : ask();
        }
        if (isPast(given.askedAtNanos()) && !hasJustFailed()) {
            var _ = ask();
        }
        return CompletableFuture.completedStage(given.credential());
    }

    /** Returns whether the provider failed lately; then it is not asked for a while. */
    private boolean hasJustFailed() {
        Long failed = failedAtNanos;
        return failed != null && !isPast(failed);
    }

    private boolean isPast(long nanos) {
        return nanoClock.getAsLong() - nanos > ASKED_AGAIN.toNanos();
    }

    private BackendException none(@Nullable Throwable cause) {
        return new BackendException(BackendException.Reason.UNSENT,
                "no credential from " + name, cause);
    }

    private static boolean isExpired(Given given) {
        return given.expires() != null && !Instant.now().isBefore(given.expires());
    }

    private CompletableFuture<Caller.Credential> ask() {
        CompletableFuture<Caller.Credential> mine = new CompletableFuture<>();
        while (!asking.compareAndSet(null, mine)) {
            CompletableFuture<Caller.Credential> other = asking.get();
            if (other != null) {
                return other;
            }
        }
        Thread.ofVirtual().name("backend-credential").start(() -> resolve(mine));
        return mine;
    }

    private void resolve(CompletableFuture<Caller.Credential> asked) {
        Caller.Credential found = null;
        Throwable failure = null;
        try {
            found = resolve();
            failedAtNanos = null;
        } catch (RuntimeException | LinkageError e) {
            // The SDK loads further modules by name; whatever that throws, waiting callers must be
            // told.
            LOG.warn("no credential for the store from {}: {}", name, e.getMessage());
            failure = e;
            failedAtNanos = nanoClock.getAsLong();
        }
        asking.set(null);
        if (found != null) {
            asked.complete(found);
        } else {
            asked.completeExceptionally(none(failure));
        }
    }

    private Caller.Credential resolve() {
        long askedAt = nanoClock.getAsLong();
        AwsCredentials given = provider.resolveCredentials();
        String token = given instanceof AwsSessionCredentialsIdentity session
                ? session.sessionToken()
                : null;
        Caller.Credential credential = new Caller.Credential(given.accessKeyId(),
                given.secretAccessKey(), token);
        last = new Given(credential, given.expirationTime().orElse(null), askedAt);
        return credential;
    }

    @Override
    public void close() {
        if (provider instanceof SdkAutoCloseable closeable) {
            closeable.close();
        }
    }
}
