package io.railhead.gateway.rdma.pairing;

import io.railhead.backend.BackendResponse;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.RdmaDelivery.Written;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.object.read.ObjectRead;
import io.railhead.gateway.object.read.RdmaGet;
import io.railhead.gateway.object.write.RdmaPut;
import io.railhead.gateway.rdma.RdmaErrors;
import io.railhead.gateway.relay.Relay;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.body.EmptyBodySums;
import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.RemoteWindows;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.pairing.StagingArea;
import io.vertx.core.http.HttpServerResponse;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * One hipobj transfer, from READY to its response. Event loop only.
 *
 * <pre>
 *   GET:  bytes written ──▶ cookie written ──▶ answered
 *   PUT:  the client has written, and said its cookie ──▶ its right revoked ──▶ stored ──▶ answered
 * </pre>
 *
 * The session and its queue pair end with the transfer; after a failure the client starts again.
 */
final class HipobjReady {
    /**
     * The queue pair outlives the response: a client's adapter may still be acknowledging its
     * write.
     */
    private static final long LINGER_MILLIS = 1000;
    private static final int OK = 200;

    private final PairingAdmission admission;
    private final HipobjSite site;
    private final HttpExchange httpExchange;
    private final HipobjSession session;
    private final S3Request request;
    private final int cookie;
    private final Crc64Fabric fabric;

    HipobjReady(PairingAdmission admission, HipobjSite site, HttpExchange httpExchange,
            HipobjSession session, S3Request request) {
        this.admission = admission;
        this.site = site;
        this.httpExchange = httpExchange;
        this.session = session;
        this.request = request;
        this.cookie = session.target().asked().cookie();
        this.fabric = new Crc64Fabric(site.reads().fabric());
    }

    /** @param window the client's memory, of the requested length */
    void get(RemoteBuffer window) {
        HipobjRead[] self = new HipobjRead[1];
        HipobjRead destination = new HipobjRead(admission, httpExchange, request,
                (read, plan, expected) -> new RdmaGet(read, plan.clippedTo(window.length()),
                        expected, RemoteWindows.of(window), new Told(window, self)).start());
        self[0] = destination;
        new ObjectRead(site.reads().withFabric(fabric), request, destination).start();
    }

    private final class Told implements RdmaGet.Client {
        private final RemoteBuffer window;
        private final HipobjRead[] destination;

        Told(RemoteBuffer window, HipobjRead[] destination) {
            this.window = window;
            this.destination = destination;
        }

        @Override
        public void delivered(ReadPlan plan, CacheResult result) {
            long timer = fenceTimer();
            session.pair()
                    .announce(window, cookie)
                    .whenComplete((_, failure) -> httpExchange.executor().execute(() -> {
                        site.reads().vertx().cancelTimer(timer);
                        if (failure != null) {
                            broken(RdmaErrors.of(failure));
                        } else {
                            told(plan, result);
                        }
                    }));
        }

        private void told(ReadPlan plan, CacheResult result) {
            if (httpExchange.isOver()) {
                return;
            }
            admission.count(PairingDialect.HIPOBJ, "delivered");
            httpExchange.movedByRdma(window.session().fabric(), plan.length());
            HttpServerResponse response = begin(plan.length(),
                    plan.metadata().version().etag(), plan.metadata().version().versionId());
            response.putHeader("x-cache", result.name());
            response.end();
        }

        @Override
        public void declined(String reason) {
            destination[0].decline(reason);
        }

        @Override
        public void begunAnew(Written written) {
            // The dialect has no fallback: a decline is answered with an error.
        }

        @Override
        public void broken(S3Refusal error) {
            HipobjReady.this.broken(error);
        }
    }

    void put(StagingArea staging) {
        long timer = fenceTimer();
        staging.filled()
                .whenComplete((_, failure) -> httpExchange.executor().execute(() -> {
                    site.reads().vertx().cancelTimer(timer);
                    if (failure != null) {
                        broken(RdmaErrors.of(failure));
                    } else {
                        new RdmaPut(site.reads().withFabric(fabric), httpExchange,
                                request.withHeaders(EmptyBodySums.strip(request.headers())),
                                session.target().kind(),
                                RemoteWindows.of(staging.window()), new Stored(staging))
                                .start();
                    }
                }));
    }

    private final class Stored implements RdmaPut.Client {
        private final StagingArea staging;

        Stored(StagingArea staging) {
            this.staging = staging;
        }

        @Override
        public void received(BackendResponse answer) {
            linger();
            admission.count(PairingDialect.HIPOBJ, "received");
            httpExchange.movedByRdma(staging.window().session().fabric(),
                    staging.window().length());
            begin(staging.window().length(), answer.headers().get("etag"),
                    answer.headers().get("x-amz-version-id")).end();
        }

        @Override
        public void refused(BackendResponse answer) {
            linger();
            Relay.pass(httpExchange, "PUT", answer);
        }

        @Override
        public void broken(Throwable cause) {
            HipobjReady.this.broken(RdmaErrors.of(cause));
        }

        private void linger() {
            session.outlive(httpExchange);
            site.reads().vertx().setTimer(LINGER_MILLIS, _ -> session.end());
        }
    }

    private long fenceTimer() {
        return site.reads()
                .vertx()
                .setTimer(
                        Math.max(1,
                                site.reads()
                                        .deadlines()
                                        .fenceMillis(httpExchange.arrivedAtNanos())),
                        _ -> session.pair().end(EndReason.FENCED));
    }

    private void broken(S3Refusal error) {
        admission.count(PairingDialect.HIPOBJ, "broken");
        httpExchange.fail(error);
    }

    private HttpServerResponse begin(long bytes, @Nullable String etag,
            @Nullable String versionId) {
        HttpServerResponse response = httpExchange.answer(OK);
        response.putHeader(HipobjHeaders.PROTOCOL, HipobjHeaders.PROTOCOL_NAME);
        response.putHeader("x-amz-rdma-capabilities", HipobjPaths.CAPABILITIES);
        response.putHeader(HipobjHeaders.COOKIE, HexFormat.of().toHexDigits(cookie));
        response.putHeader("x-amz-rdma-bytes-transferred", Long.toString(bytes));
        response.putHeader("x-amz-rdma-checksum", fabric.header());
        if (etag != null && !etag.isEmpty()) {
            response.putHeader("x-amz-rdma-etag", etag);
            response.putHeader("etag", etag);
        }
        if (versionId != null && !versionId.isEmpty()) {
            response.putHeader("x-amz-rdma-version-id", versionId);
            response.putHeader("x-amz-version-id", versionId);
        }
        response.putHeader("content-length", "0");
        return response;
    }

    /** Returns the client's memory as READY describes it. Throws {@code TransferException}. */
    static RemoteBuffer window(HipobjSession session, HipobjHeaders.Ready ready) {
        if (ready.queuePair() != session.target().asked().descriptor().queuePair()) {
            throw new TransferException(TransferException.Reason.UNKNOWN_SESSION,
                    "another queue pair than was prepared");
        }
        return session.pair()
                .window(ready.address(), session.target().asked().bytes(), ready.key());
    }
}
