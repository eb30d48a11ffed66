package io.railhead.client;

import io.railhead.protocol.message.Refusal;
import io.railhead.protocol.message.RefusedException;
import io.railhead.protocol.message.SessionKey;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.http.SdkHttpMethod;

/**
 * Opens sessions on demand: a signed HTTP request, then the proof on the fabric. At most one is
 * current. One that has ended is replaced by the next caller, which registers all buffers again.
 * Any thread.
 *
 * <p> The gateway ends a session with its credentials. A session is therefore replaced
 * {@link #RENEWAL} before that, and stays for what is under way in it.
 */
final class Sessions implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Sessions.class);
    private static final int DOCUMENT_LIMIT = 64 << 10;
    /** The time for which an unreachable gateway is not tried again. */
    private static final long PAUSE_NANOS = Duration.ofSeconds(5).toNanos();
    /** The SDK has renewed credentials by then: it does so five minutes before they end. */
    private static final Duration RENEWAL = Duration.ofMinutes(2);
    /** The time that a session is used for, however soon its credentials end. */
    private static final long LEAST_USE_NANOS = Duration.ofSeconds(1).toNanos();
    /** Codes of refused credentials that may have been revoked before their end. */
    private static final Set<String> ENDED_CREDENTIALS = Set.of("ExpiredToken", "InvalidToken",
            "InvalidAccessKeyId");

    private final S3Http http;
    private final FabricConnector fabricConnector;
    private final Duration timeout;
    private final Set<RegisteredBuffer> buffers;
    private final boolean sharedOnly;
    /** Replaced before their credentials' end; ended when nothing is under way in them. */
    private final Set<Session> retired = ConcurrentHashMap.newKeySet();
    private volatile @Nullable Session current;
    private @Nullable NotAvailableException lastFailure;
    private long failedAtNanos;
    private boolean closed;

    /**
     * Opens nothing yet.
     *
     * @param buffers that each session registers; others add to them, and remove from them
     * @param sharedOnly whether the gateway shall decline what is its own alone
     */
    Sessions(S3Http http, FabricConnector fabricConnector, Duration timeout,
            Set<RegisteredBuffer> buffers, boolean sharedOnly) {
        this.http = http;
        this.fabricConnector = fabricConnector;
        this.timeout = timeout;
        this.buffers = buffers;
        this.sharedOnly = sharedOnly;
    }

    /**
     * Returns the current session if it is usable and not to be replaced; null if there is none.
     */
    @Nullable
    Session ready() {
        Session session = current;
        return session != null && session.isUsable() && !session.isDue() ? session : null;
    }

    /**
     * Returns a session, and opens one if there is none. Blocks. Throws
     * {@link NotAvailableException} with the reason.
     */
    Session require() throws IOException {
        Session session = ready();
        return session == null ? replace() : session;
    }

    private synchronized Session replace() throws IOException {
        if (closed) {
            throw new IOException("the client is closed");
        }
        Session session = current;
        if (session != null && session.isUsable()) {
            return session.isDue() ? renewed(session) : session;
        }
        if (session != null) {
            current = null;
            session.end();
        }
        if (lastFailure != null && System.nanoTime() - failedAtNanos < PAUSE_NANOS) {
            throw lastFailure;
        }
        session = open();
        lastFailure = null;
        current = session;
        session.keepOnly(buffers);
        return session;
    }

    /**
     * Returns the due session itself if there is no other: it is usable until the gateway ends it.
     */
    private Session renewed(Session due) {
        due.putOff(PAUSE_NANOS);
        try {
            Session session = connectInTime();
            retire(due);
            current = session;
            session.keepOnly(buffers);
            return session;
        } catch (IOException | LinkageError | IllegalStateException e) {
            LOG.debug("the session is not renewed yet", e);
            return due;
        }
    }

    /** A request under way has its answer, or is given up, within the timeout. */
    private void retire(Session session) {
        retired.add(session);
        CompletableFuture.delayedExecutor(2 * timeout.toNanos(), TimeUnit.NANOSECONDS,
                Thread::startVirtualThread).execute(() -> {
                    session.end();
                    retired.remove(session);
                });
    }

    private Session open() throws IOException {
        try {
            return connectInTime();
        } catch (IOException | LinkageError | IllegalStateException e) {
            if (e instanceof IOException io && FutureFailures.isInterruption(io)) {
                throw io;
            }
            NotAvailableException failure = new NotAvailableException(
                    String.valueOf(e.getMessage()), e);
            lastFailure = failure;
            failedAtNanos = System.nanoTime();
            throw failure;
        }
    }

    /**
     * Connects, and retries once: a first connection may take longer than the gateway waits, and a
     * second is quicker.
     */
    private Session connectInTime() throws IOException {
        fabricConnector.requireUsable();
        try {
            return connect();
        } catch (IOException e) {
            if (isTooLate(e)) {
                return connect();
            }
            throw e;
        }
    }

    private static boolean isTooLate(IOException failure) {
        Throwable cause = failure.getCause() instanceof RefusedException
                ? failure.getCause()
                : failure;
        return cause instanceof RefusedException refused
                && refused.reason() == Refusal.UNKNOWN_SESSION;
    }

    private Session connect() throws IOException {
        AwsCredentialsProvider credentials = http.credentials();
        if (!(credentials instanceof RenewedCredentials renewed)) {
            return connectOnce();
        }
        AwsCredentialsProvider source = renewed.source();
        try {
            return connectOnce();
        } catch (S3Exception e) {
            if (!ENDED_CREDENTIALS.contains(e.code())) {
                throw e;
            }
            // The SDK keeps credentials until their end, whoever has revoked them.
            renewed.beginAgain(source);
            return connectOnce();
        }
    }

    private Session connectOnce() throws IOException {
        Call call = new Call(SdkHttpMethod.POST, "/.railhead/sessions", Map.of(), Map.of(),
                Call.Body.EMPTY).query("fabric", fabricConnector.fabric());
        S3Http.Signed signed = http.sign(sharedOnly ? call.query("shared", "true") : call);
        SessionGrant grant;
        try (HttpAnswer answer = http.send(signed)) {
            if (answer.status() != 200) {
                throw refused(answer.refusal());
            }
            grant = SessionGrant.parse(
                    new String(answer.readDocument(DOCUMENT_LIMIT), StandardCharsets.UTF_8));
        }
        byte[] key = SessionKey.ofOpen(signed.credentials().secretAccessKey(), signed.request()
                .request()
                .firstMatchingHeader("Authorization")
                .orElseThrow(), grant.id());
        FabricConnector.Peer peer = fabricConnector.connect(grant, key, timeout);
        return withBuffers(new Session(peer, grant,
                nanosUntilDue(signed.credentials())));
    }

    private static long nanosUntilDue(AwsCredentials credentials) {
        return credentials.expirationTime()
                .map(end -> Duration.between(Instant.now(), end.minus(RENEWAL)))
                .map(left -> Math.max(LEAST_USE_NANOS, left.toNanos()))
                .orElse(Session.NEVER_DUE);
    }

    private Session withBuffers(Session session) throws IOException {
        boolean done = false;
        try {
            for (RegisteredBuffer buffer : buffers) {
                register(session, buffer);
            }
            done = true;
            return session;
        } finally {
            if (!done) {
                session.end();
            }
        }
    }

    private static void register(Session session, RegisteredBuffer buffer) throws IOException {
        try {
            buffer.hold();
        } catch (IllegalStateException _) {
            return; // Closed meanwhile.
        }
        try {
            session.register(buffer);
        } catch (NotAvailableException _) {
            // Only requests with that buffer fall back to HTTP.
        } finally {
            buffer.release();
        }
    }

    private S3Exception refused(S3Exception refusal) {
        S3Exception named = new S3Exception(refusal.status(), refusal.code(),
                "the endpoint opens no " + fabricConnector.fabric() + " session ("
                        + refusal.getMessage()
                        + ")");
        named.initCause(refusal);
        return named;
    }

    /** Returns when the gateway no longer touches the buffer. */
    void deregister(RegisteredBuffer buffer) {
        Session session = current;
        if (session != null) {
            session.deregister(buffer);
        }
        retired.forEach(old -> old.deregister(buffer));
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (current != null) {
            current.end();
        }
        retired.forEach(Session::end);
    }
}
