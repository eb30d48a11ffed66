package io.railhead.stress;

import org.jetbrains.lincheck.Lincheck;

/**
 * The orders in which Lincheck's model checker has threads go on: so many of them,
 * {@code -Drailhead.schedules=}. It assumes sequential consistency; what processors reorder is
 * jcstress's.
 */
public final class Schedules {
    private static final int COUNT = Integer.getInteger("railhead.schedules", 100);

    /**
     * What threads do in one schedule; no AssertJ in there, whose objects refuse to be compared, as
     * Lincheck does with all.
     */
    @FunctionalInterface
    public interface Scene {

        /** Whether it ended as it must. */
        boolean play() throws InterruptedException;
    }

    private Schedules() {}

    public static void tryMany(Scene scene) {
        Lincheck.runConcurrentTest(COUNT, () -> {
            try {
                if (!scene.play()) {
                    throw new AssertionError("it does not end as it must");
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
    }
}
