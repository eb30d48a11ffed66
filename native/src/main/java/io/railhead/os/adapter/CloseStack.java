package io.railhead.os.adapter;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The steps that undo a construction, run in reverse order after a failure or at the end. A later
 * object may use an earlier one: if a step fails, all earlier ones are never run.
 */
public final class CloseStack {

    /** Undoes one step of the construction. */
    public interface Step {
        void run() throws Exception;
    }

    private final Deque<Step> steps = new ArrayDeque<>();

    public void add(Step step) {
        steps.push(step);
    }

    /** Runs the steps; a failure is suppressed in the cause. */
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
