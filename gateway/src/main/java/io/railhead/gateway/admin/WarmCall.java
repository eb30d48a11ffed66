package io.railhead.gateway.admin;

import io.railhead.cache.CacheControl;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** {@code warm}: a progress line each second, then a line with the result. */
final class WarmCall {
    private static final int MAX_AT_A_TIME = 4;
    private static final int MAX_CONCURRENCY = 64;
    private static final long LINE_MILLIS = 1000;

    private final CacheWarming.Services services;
    private final Vertx vertx;
    private final Semaphore places = new Semaphore(MAX_AT_A_TIME);

    WarmCall(CacheWarming.Services services) {
        this.services = services;
        this.vertx = services.reads().vertx();
    }

    JsonObject run(AdminCall.Asked asked) throws InterruptedException {
        CacheWarming.Plan plan = plan(asked.body());
        if (plan.toDisk()) {
            requireDisks();
        }
        if (!places.tryAcquire()) {
            throw new S3Refusal(S3Error.SLOW_DOWN,
                    MAX_AT_A_TIME + " warmings are under way already.");
        }
        try {
            return run(new CacheWarming(services, plan, asked.caller(), asked.peer()),
                    asked.reply());
        } finally {
            places.release();
        }
    }

    private void requireDisks() {
        CacheControl cache = services.reads().cache().control();
        if (!cache.hasDisks()) {
            throw CallBody.refusal("The gateway has no disks (cache.disk).");
        }
        if (cache.bytesBelow("") == 0) {
            throw new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                    "No disk is open, or not yet: railhead status tells.");
        }
    }

    private JsonObject run(CacheWarming cacheWarming, AdminResponse adminResponse)
            throws InterruptedException {
        long timer = vertx.setPeriodic(LINE_MILLIS,
                _ -> adminResponse.line(cacheWarming.progress().running()));
        try {
            cacheWarming.run();
        } finally {
            vertx.cancelTimer(timer);
        }
        return cacheWarming.ended();
    }

    private static CacheWarming.Plan plan(CallBody body) {
        String prefix = body.text("prefix");
        String from = body.text("from");
        List<String> keys = body.texts("keys");
        CacheWarming.Plan plan = new CacheWarming.Plan(body.bucket(), prefix == null ? "" : prefix,
                keys,
                from == null ? "" : from, body.number("bytes_per_second", 1, Long.MAX_VALUE, 0),
                (int) body.number("concurrency", 1, MAX_CONCURRENCY, 4), toDisk(body.text("tier")));
        body.close();
        if (keys != null && (prefix != null || from != null)) {
            throw CallBody.refusal("keys stands instead of prefix and from.");
        }
        return plan;
    }

    private static boolean toDisk(@Nullable String tier) {
        return switch (tier) {
            case "disk" -> true;
            case "memory" -> false;
            case null -> false;
            default -> throw CallBody.refusal("tier is memory or disk.");
        };
    }
}
