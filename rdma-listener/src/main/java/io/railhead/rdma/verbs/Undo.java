package io.railhead.rdma.verbs;

import java.util.ArrayDeque;
import java.util.Deque;

/** What is to be taken back, the last first, where a longer making of something fails. */
final class Undo {

    /** Takes one thing back. */
    interface Step {
        void run() throws Exception;
    }

    private final Deque<Step> steps = new ArrayDeque<>();

    void add(Step step) {
        steps.push(step);
    }

    /** What fails on the way is suppressed in the cause. */
    void run(Exception cause) {
        for (Step step : steps) {
            try {
                step.run();
            } catch (Exception e) {
                cause.addSuppressed(e);
            }
        }
    }
}
