package io.railhead.rdma;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Steps of a shutdown, each of which runs whatever happens in another. */
public final class AllSteps {
    private AllSteps() {}

    /** Runs all steps in order, then throws the first failure. */
    public static void run(List<Runnable> steps) {
        Throwable first = null;
        for (Runnable step : steps) {
            try {
                step.run();
            } catch (RuntimeException | Error e) {
                first = joined(first, e);
            }
        }
        if (first instanceof Error error) {
            throw error;
        }
        if (first instanceof RuntimeException failure) {
            throw failure;
        }
    }

    private static Throwable joined(@Nullable Throwable first, Throwable next) {
        if (first == null) {
            return next;
        }
        first.addSuppressed(next);
        return first;
    }
}
