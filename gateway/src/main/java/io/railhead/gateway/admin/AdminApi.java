package io.railhead.gateway.admin;

import io.railhead.backend.Headers;
import io.railhead.gateway.audit.Audit;
import io.railhead.gateway.audit.AuditEvent;
import io.railhead.gateway.audit.AuditKind;
import io.railhead.gateway.audit.Claim;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.s3.Digests;
import io.railhead.gateway.s3.Guard;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.PayloadSigning;
import io.railhead.gateway.s3.sigv4.RequestAuthenticator;
import io.railhead.gateway.s3.sigv4.RequestHead;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code POST /.railhead/admin/NAME}: calls that change the gateway's behaviour. An administrator
 * signs each by SigV4 over its whole body. The response is JSON, with progress lines for a long
 * call; refusals are S3's error document.
 *
 * <p> The head is checked on the event loop, before the body is read; each call runs on a virtual
 * thread of its own.
 */
public final class AdminApi implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AdminApi.class);
    private static final String PREFIX = "/.railhead/admin/";
    private static final int MAX_BODY_BYTES = 4 << 20;
    private static final int MAX_CALLS = 16;
    private static final int LOGGED_CHARS = 300;

    private final Vertx vertx;
    private final @Nullable RequestAuthenticator authenticator;
    private final InstantSource clock;
    private final Duration patience;
    private final Metrics metrics;
    private final Audit audit;
    private final Map<String, AdminCall> calls;
    private final Set<Thread> running = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /**
     * @param authenticator verifies SigV4; null if this gateway verifies no signatures
     * @param patience the longest time in which a caller takes nothing of the bytes sent to it
     */
    AdminApi(Vertx vertx, @Nullable RequestAuthenticator authenticator, InstantSource clock,
            Duration patience, Metrics metrics, Audit audit, Map<String, AdminCall> calls) {
        this.patience = patience;
        this.vertx = vertx;
        this.authenticator = authenticator;
        this.clock = clock;
        this.metrics = metrics;
        this.audit = audit;
        this.calls = Map.copyOf(calls);
    }

    /** Returns the handlers of the calls by their paths on the admin port. */
    public Map<String, Handler<HttpServerRequest>> paths() {
        return calls.entrySet()
                .stream()
                .collect(Collectors.toMap(call -> PREFIX + call.getKey(),
                        call -> request -> new Taken(call.getKey(), call.getValue(), request)
                                .admit()));
    }

    /** Refuses further calls, interrupts the running ones, and waits for their end. Blocks. */
    @Override
    public void close() {
        closed = true;
        for (Thread thread : Set.copyOf(running)) {
            thread.interrupt();
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** One request of the API. */
    private final class Taken {
        private final String name;
        private final AdminCall call;
        private final HttpServerRequest request;
        private final AdminResponse adminResponse;
        private final String requestId = HttpExchange.newId();
        private volatile @Nullable CallBody arguments;
        private String principal = "";
        private String tenant = "";
        private String roleSession = "";

        Taken(String name, AdminCall call, HttpServerRequest request) {
            this.name = name;
            this.call = call;
            this.request = request;
            Context context = vertx.getOrCreateContext();
            this.adminResponse = new AdminResponse(request, context, requestId,
                    new AdminResponse.Patience(patience, () -> audit.record(
                            about(AuditEvent.accepted(AuditKind.ADMIN_CALL,
                                    "the call begins to send bytes")))));
        }

        void admit() {
            request.pause();
            Guard.run(() -> receive(authenticate(head())), this::refuse);
        }

        private RequestHead head() {
            return new RequestHead(request.method().name(), String.valueOf(request.path()),
                    request.query(), Headers.copyOf(request.headers()));
        }

        private Authentication.Signed authenticate(RequestHead head) {
            if (authenticator == null) {
                throw new S3Refusal(S3Error.NOT_IMPLEMENTED, "Under gateway.authentication:"
                        + " pass_through the gateway knows no administrators.");
            }
            if (!head.method().equals("POST")) {
                throw new S3Refusal(S3Error.METHOD_NOT_ALLOWED, "Calls are posted.");
            }
            if (!(authenticator.authenticate(head,
                    clock.instant()) instanceof Authentication.Signed signed)
                    || signed.presigned()) {
                throw new S3Refusal(S3Error.ACCESS_DENIED,
                        "Calls must be signed by SigV4, in the Authorization header.");
            }
            principal = signed.principal().name();
            tenant = signed.principal().tenant();
            roleSession = signed.key().sessionId();
            if (!signed.principal().admin()) {
                throw new S3Refusal(S3Error.ACCESS_DENIED, "Principal " + principal
                        + " is no administrator (admin: true in the credentials file).");
            }
            if (signed.session() != null && signed.session().policy() != null) {
                throw new S3Refusal(S3Error.ACCESS_DENIED,
                        "A session with a policy of its own makes no administrative calls.");
            }
            if (!(signed.payload() instanceof PayloadSigning.Digest)) {
                throw new S3Refusal(S3Error.INVALID_REQUEST,
                        "A call's body must be signed: x-amz-content-sha256 must be its hash.");
            }
            return signed;
        }

        private void receive(Authentication.Signed signed) {
            Buffer body = Buffer.buffer();
            request.handler(guarded(piece -> {
                if (body.length() + piece.length() <= MAX_BODY_BYTES) {
                    body.appendBuffer(piece);
                } else {
                    request.handler(_ -> {}).endHandler(null);
                    refuse(new S3Refusal(S3Error.MAX_MESSAGE_LENGTH_EXCEEDED,
                            "A call must be at most " + MAX_BODY_BYTES + " bytes.")
                            .withStatus(413));
                }
            }));
            request.endHandler(guarded(_ -> start(signed, body.getBytes())));
            if ("100-continue".equalsIgnoreCase(request.getHeader("expect"))) {
                request.response().writeContinue();
            }
            request.resume();
        }

        private <T> Handler<T> guarded(Handler<T> step) {
            return Guard.handler(step, this::refuse);
        }

        private void start(Authentication.Signed signed, byte[] body) {
            Thread thread = Thread.ofVirtual()
                    .name("admin-" + name)
                    .unstarted(() -> run(signed, body));
            if (running.size() >= MAX_CALLS) {
                refuse(new S3Refusal(S3Error.SLOW_DOWN,
                        MAX_CALLS + " calls are under way already."));
                return;
            }
            running.add(thread);
            adminResponse.onClosed(thread::interrupt);
            thread.start();
            if (closed) {
                thread.interrupt();
            }
        }

        private void run(Authentication.Signed signed, byte[] body) {
            try {
                requireHash(signed, body);
                CallBody parsed = CallBody.parse(body);
                arguments = parsed;
                var asked = new AdminCall.Asked(signed, RequestSource
                        .anonymous(request.remoteAddress().hostAddress(), request.isSSL())
                        .as(signed), parsed, adminResponse);
                JsonObject answer = call.run(asked);
                note(new String(body, StandardCharsets.UTF_8), answer.getString("state", "done"));
                audit.record(about(AuditEvent.accepted(AuditKind.ADMIN_CALL,
                        "the call ended: " + answer.getString("state", "done"))));
                adminResponse.end(answer);
            } catch (InterruptedException e) {
                if (closed) {
                    refuse(new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                            "The gateway is stopping."));
                } else {
                    note(new String(body, StandardCharsets.UTF_8), "cancelled");
                    audit.record(about(AuditEvent.refused(AuditKind.ADMIN_CALL,
                            "cancelled", "the caller left before the call ended")));
                }
            } catch (Throwable thrown) {
                // Caught at the thread's top: the caller waits for a response.
                refuse(thrown);
            } finally {
                running.remove(Thread.currentThread());
            }
        }

        private static void requireHash(Authentication.Signed signed, byte[] body) {
            byte[] hash = Digests.of("SHA-256").digest(body);
            if (!(signed.payload() instanceof PayloadSigning.Digest(String hex))
                    || !MessageDigest.isEqual(hash, HexFormat.of().parseHex(hex))) {
                throw new S3Refusal(S3Error.CONTENT_SHA256_MISMATCH);
            }
        }

        private void note(String asked, String result) {
            metrics.adminCalls.labels(name, result).inc();
            // Logged as JSON, so that no name can imitate another log line.
            String shown = JsonObject.of("asked", asked).encode();
            LOG.info("admin call {} by '{}': {}: {}", name, principal, result,
                    shown.substring(0, Math.min(shown.length(), LOGGED_CHARS)));
        }

        private void refuse(Throwable failure) {
            S3Refusal error = failure instanceof S3Refusal known ? known : unexpected(failure);
            metrics.adminCalls.labels(name, error.error().code()).inc();
            LOG.info("admin call {} by '{}' refused: {}: {}", name, principal,
                    error.error().code(), error.detail().replaceAll("\\s", " "));
            audit.record(about(refusal(error)));
            adminResponse.fail(error);
        }

        /** Returns the event without the error's detail, which may quote what the caller sent. */
        private AuditEvent refusal(S3Refusal error) {
            return principal.isEmpty()
                    ? AuditEvent.refused(AuditKind.LOGIN_REFUSED, error.error().code(),
                            "the caller was not authenticated")
                            .claiming(Claim.of(request::getHeader, null))
                    : AuditEvent.refused(AuditKind.ADMIN_REFUSED, error.error().code(),
                            "the call was refused");
        }

        /** Returns the event with what the call has read of its arguments, however it ended. */
        private AuditEvent about(AuditEvent event) {
            CallBody read = arguments;
            AuditEvent described = event
                    .by(principal, tenant, request.remoteAddress().hostAddress())
                    .as(roleSession)
                    .asking("ADMIN." + name, requestId);
            for (Map.Entry<String, String> argument : read == null
                    ? Map.<String, String>of().entrySet()
                    : read.read().entrySet()) {
                described = described.on(argument.getKey(), argument.getValue());
            }
            return described;
        }

        private S3Refusal unexpected(Throwable failure) {
            LOG.warn("admin call {} failed", name, failure);
            metrics.internalErrors.labels("admin").inc();
            return new S3Refusal(S3Error.INTERNAL_ERROR);
        }
    }
}
