package io.railhead.gateway.control;

import io.railhead.gateway.request.Asker;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Exception;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.Semaphore;

/** {@code warm}: a line each second of how far it has come, the last of how it ended. */
final class WarmCall {
    private static final int MAX_AT_A_TIME = 4;
    private static final int MAX_CONCURRENCY = 64;
    private static final long LINE_MILLIS = 1000;

    private final Warming.Services services;
    private final Vertx vertx;
    private final Semaphore places = new Semaphore(MAX_AT_A_TIME);

    WarmCall(Warming.Services services) {
        this.services = services;
        this.vertx = services.reads().vertx();
    }

    JsonObject run(AdminCall.Asked asked) throws InterruptedException {
        Warming.Plan plan = plan(asked.body());
        if (!places.tryAcquire()) {
            throw new S3Exception(S3Error.SLOW_DOWN,
                    MAX_AT_A_TIME + " warmings are under way already.");
        }
        try {
            // TLS is not spoken on this port.
            Asker asker = Asker.of(asked.caller().principal().name(), asked.peer(), false);
            return run(new Warming(services, plan, asked.caller(), asker), asked.reply());
        } finally {
            places.release();
        }
    }

    private JsonObject run(Warming warming, Reply reply) throws InterruptedException {
        long timer = vertx.setPeriodic(LINE_MILLIS,
                _ -> reply.line(warming.progress().running()));
        try {
            warming.run();
        } finally {
            vertx.cancelTimer(timer);
        }
        return warming.ended();
    }

    private static Warming.Plan plan(CallBody body) {
        String prefix = body.text("prefix");
        String from = body.text("from");
        List<String> keys = body.texts("keys");
        Warming.Plan plan = new Warming.Plan(body.bucket(), prefix == null ? "" : prefix, keys,
                from == null ? "" : from, body.number("bytes_per_second", 1, Long.MAX_VALUE, 0),
                (int) body.number("concurrency", 1, MAX_CONCURRENCY, 4));
        body.close();
        if (keys != null && (prefix != null || from != null)) {
            throw CallBody.refusal("keys stands instead of prefix and from.");
        }
        return plan;
    }
}
