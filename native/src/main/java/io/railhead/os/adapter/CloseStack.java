package io.railhead.os.adapter;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Closes the steps of a longer construction in reverse order, where one of them fails, and at the
 * end. What was made later may use what was made before: if a step fails, all earlier ones are left
 * undone, for good.
 */
public final class CloseStack {

    /** Takes one thing back. */
    public interface Step {
        void run() throws Exception;
    }

    private final Deque<Step> steps = new ArrayDeque<>();

    public void add(Step step) {
        steps.push(step);
    }

    /** What fails is suppressed in the cause. */
    public void run(Throwable cause) {
        try {
            while (!steps.isEmpty()) {
                steps.pop().run();
            }
        } catch (Exception e) {
            cause.addSuppressed(e);
            steps.clear();
        }
    }
}
