package io.railhead.gateway.admission;

import java.time.Duration;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sheds load when collections free too little of the heap: caching first, then requests. Each stage
 * is left at a lower level than it was entered at, so that it is not entered again at once.
 *
 * <p> {@link #look} belongs to one thread; {@link #stage} may be called by any. The knowledge is as
 * old as the last collection of long-lived objects. With few requests there may be none for long,
 * so a collection is then requested.
 */
public final class HeapPressure {
    private static final Logger LOG = LoggerFactory.getLogger(HeapPressure.class);

    private final DoubleSupplier heldAfterCollection;
    private final LongSupplier nanoClock;
    private final Actions actions;
    private volatile Stage stage = Stage.NONE;
    private double last = -1;
    private long lastNanos;

    /**
     * The stages of shedding. Patience: the gateway must recover within 10 s of the end of the
     * cause.
     */
    public enum Stage {
        NONE(0, 0, Duration.ZERO),
        /** Nothing new is cached, and some knowledge of objects is dropped. */
        NO_CACHING(0.80, 0.70, Duration.ofSeconds(3)),
        /** Requests are refused as well. */
        NO_REQUESTS(0.92, 0.85, Duration.ofSeconds(2));

        private final double enteredAt;
        private final double leftBelow;
        private final Duration patience;

        Stage(double enteredAt, double leftBelow, Duration patience) {
            this.enteredAt = enteredAt;
            this.leftBelow = leftBelow;
            this.patience = patience;
        }
    }

    /** The actions of the stages. */
    public interface Actions {

        /** Stops caching; called again whenever another collection has freed too little. */
        void stopCaching();

        void resumeCaching();

        /** Runs a collection, to learn what is still in use. */
        void collect();
    }

    /** @param heldAfterCollection the used part of the heap's maximum, 0 to 1 */
    public HeapPressure(DoubleSupplier heldAfterCollection, LongSupplier nanoClock,
            Actions actions) {
        this.heldAfterCollection = heldAfterCollection;
        this.nanoClock = nanoClock;
        this.actions = actions;
    }

    public Stage stage() {
        return stage;
    }

    public boolean refusesRequests() {
        return stage == Stage.NO_REQUESTS;
    }

    /** Reads the heap's state, and changes the stage if needed. */
    public void look() {
        double held = heldAfterCollection.getAsDouble();
        long now = nanoClock.getAsLong();
        boolean isNew = Double.compare(held, last) != 0;
        Stage before = stage;
        Stage after = next(before, held);
        if (isNew && after != Stage.NONE) {
            actions.stopCaching();
        }
        if (after != before) {
            stage = after;
            told(before, after, held);
        }
        if (isNew || after == Stage.NONE) {
            last = held;
            lastNanos = now;
        } else if (now - lastNanos >= after.patience.toNanos()) {
            lastNanos = now;
            actions.collect();
        }
    }

    private static Stage next(Stage stage, double held) {
        if (held >= Stage.NO_REQUESTS.enteredAt) {
            return Stage.NO_REQUESTS;
        }
        boolean refuses = stage == Stage.NO_REQUESTS && held >= Stage.NO_REQUESTS.leftBelow;
        if (refuses) {
            return stage;
        }
        double caching = stage == Stage.NONE
                ? Stage.NO_CACHING.enteredAt
                : Stage.NO_CACHING.leftBelow;
        return held >= caching ? Stage.NO_CACHING : Stage.NONE;
    }

    private void told(Stage before, Stage after, double held) {
        if (after == Stage.NONE) {
            actions.resumeCaching();
        }
        LOG.atLevel(after.compareTo(before) > 0
                ? org.slf4j.event.Level.WARN
                : org.slf4j.event.Level.INFO)
                .log("heap: {} of 100 parts are in use after a collection; {}",
                        Math.round(held * 100), switch (after) {
                            case NONE -> "all is as usual again";
                            case NO_CACHING -> "nothing new is cached";
                            case NO_REQUESTS -> "requests are answered 503 SlowDown";
                        });
    }
}
