package io.railhead.gateway.admin;

import io.prometheus.client.Gauge;
import io.vertx.core.json.JsonObject;
import java.util.concurrent.TimeUnit;

/**
 * An operator's drain: the gateway is not ready, and clients are told to close their connections.
 * Requests that still come are served. Any thread.
 */
public final class Drain {
    private static final long LONGEST_WAIT_SECONDS = 3600;
    private static final long LOOK_MILLIS = 50;
    private static final long LINE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Gauge inFlight;
    private volatile boolean draining;

    /** @param inFlight the number of requests under way */
    public Drain(Gauge inFlight) {
        this.inFlight = inFlight;
    }

    public boolean isOn() {
        return draining;
    }

    /**
     * Begins a drain, or with {@code undo} ends it; waits for requests under way if the call asks
     * for that.
     */
    JsonObject call(AdminCall.Asked asked) throws InterruptedException {
        boolean undo = asked.body().flag("undo");
        long waitSeconds = asked.body().number("wait_seconds", 0, LONGEST_WAIT_SECONDS, 0);
        asked.body().close();
        draining = !undo;
        long now = System.nanoTime();
        long deadline = now + TimeUnit.SECONDS.toNanos(waitSeconds);
        long nextLine = now + LINE_NANOS;
        while (draining && inFlight.get() > 0 && now - deadline < 0) {
            Thread.sleep(LOOK_MILLIS);
            now = System.nanoTime();
            if (now - nextLine >= 0) {
                nextLine += LINE_NANOS;
                asked.reply().line(state("waiting"));
            }
        }
        if (!undo && !draining) {
            return state("undone");
        }
        return state(waitSeconds > 0 && draining && inFlight.get() > 0 ? "busy" : "done");
    }

    private JsonObject state(String state) {
        return JsonObject.of("state", state, "draining", draining, "in_flight",
                (long) inFlight.get());
    }
}
