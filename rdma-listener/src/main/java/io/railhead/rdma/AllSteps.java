package io.railhead.rdma;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Steps of an end, each of which is taken whatever happens to another. */
public final class AllSteps {
    private AllSteps() {}

    /** Runs all of them in their order, and then throws the first failure. */
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
