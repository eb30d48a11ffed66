package io.railhead.gateway.admin;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.TestGateway;
import io.railhead.gateway.audit.Audit;
import io.railhead.gateway.audit.AuditEvent;
import io.railhead.gateway.frontdoor.AdminListener;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.s3.Digests;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.PayloadSigning;
import io.railhead.gateway.s3.sigv4.TestSignature;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Calls that send bytes, to callers that stop reading, or leave. */
final class AdminExportTest {
    private static final String TIMED_OUT = "RequestTimeout";
    private static final Duration BRIEF = Duration.ofMillis(300);
    private static final Duration LONG = Duration.ofMinutes(10);

    private final Vertx vertx = Vertx.vertx();
    private final Metrics metrics = new Metrics();
    private final List<AuditEvent> events = new CopyOnWriteArrayList<>();
    private final CountDownLatch mayBegin = new CountDownLatch(1);
    private int eventsAtFirstByte = -1;

    @AfterEach
    void close() throws Exception {
        mayBegin.countDown();
        vertx.close().toCompletionStage().toCompletableFuture().get(30, SECONDS);
    }

    private Audit audit() {
        return new Audit() {
            @Override
            public boolean isOn() {
                return true;
            }

            @Override
            public void record(AuditEvent event) {
                events.add(event);
            }
        };
    }

    private static Authentication.Signed administrator() {
        Authentication.Signed by = TestSignature.of("operator", "00", Instant.EPOCH);
        Principal known = by.principal();
        return new Authentication.Signed(
                new Principal(known.name(), known.tenant(), known.keys(), null, known.gids(), true,
                        true, true),
                by.key(), by.scope(), by.signature(), by.signedHeaders(), false, by.signedAt(),
                new PayloadSigning.Digest(HexFormat.of()
                        .formatHex(Digests.of("SHA-256").digest("{}".getBytes(UTF_8)))),
                by.signingKey());
    }

    private AdminApi api(Duration patience) {
        return new AdminApi(vertx, (_, _, _) -> administrator(), InstantSource.system(), patience,
                metrics, audit(), Map.of("export", this::endless));
    }

    /** Sends more bytes than any socket's buffers hold. */
    private JsonObject endless(AdminCall.Asked asked) throws InterruptedException {
        asked.body().close();
        mayBegin.await();
        asked.reply().beginBytes(Long.MAX_VALUE);
        eventsAtFirstByte = events.size();
        while (true) {
            asked.reply().bytes(ByteBuffer.allocate(1 << 20));
        }
    }

    private Socket call(AdminApi api) throws Exception {
        HttpServer server = new AdminListener(vertx, metrics, api.paths())
                .listen("127.0.0.1", 0)
                .toCompletionStage()
                .toCompletableFuture()
                .get(30, SECONDS);
        Socket caller = new Socket(InetAddress.getLoopbackAddress(), server.actualPort());
        caller.setSoTimeout(30_000);
        caller.getOutputStream()
                .write(("POST /.railhead/admin/export HTTP/1.1\r\nHost: localhost\r\n"
                        + "Content-Length: 2\r\n\r\n{}").getBytes(US_ASCII));
        return caller;
    }

    private double calls(String result) {
        return metrics.adminCalls.labels("export", result).get();
    }

    @Test
    void aCallerThatStopsReadingIsCutOff() throws Exception {
        mayBegin.countDown();
        try (AdminApi api = api(BRIEF); Socket caller = call(api)) {
            TestGateway.await(() -> calls(TIMED_OUT) == 1);
            assertThat(isCut(caller.getInputStream())).isTrue();
            assertThat(events.getLast().code()).isEqualTo(TIMED_OUT);
        }
    }

    private static boolean isCut(InputStream answer) {
        byte[] some = new byte[1 << 16];
        try {
            // The sockets' buffers come first.
            int read;
            do {
                read = answer.read(some);
            } while (read >= 0);
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
        return true;
    }

    @Test
    void theCallIsInTheAuditBeforeItsFirstByteAndWhenItsCallerLeaves() throws Exception {
        try (AdminApi api = api(LONG)) {
            try (Socket caller = call(api)) {
                assertThat(events).isEmpty();
                mayBegin.countDown();
                assertThat(caller.getInputStream().read()).isEqualTo('H');
            }
            TestGateway.await(() -> events.size() == 2);
        }
        assertThat(eventsAtFirstByte).isEqualTo(1);
        assertThat(events).extracting(AuditEvent::message)
                .containsExactly("the call begins to send bytes",
                        "the caller left before the call ended");
        assertThat(events).extracting(event -> event.actor().principal())
                .containsOnly("operator");
    }
}
