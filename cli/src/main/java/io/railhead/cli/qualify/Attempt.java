package io.railhead.cli.qualify;

import io.railhead.cli.OneLine;
import java.io.IOException;
import java.util.Map;

/** A trial before its run. */
record Attempt(String name, String proves, Body body) {

    /** Runs the trial to its end; throws a failure. */
    interface Body {
        Seen run() throws IOException, NotRunException;
    }

    /** Findings of a body that passed. */
    record Seen(String found, Map<String, Double> figures) {}

    /** The lack of something that a trial needs on this machine. */
    static final class NotRunException extends Exception {
        private static final long serialVersionUID = 1L;

        NotRunException(String missing) {
            super(missing);
        }
    }

    Trial run() {
        try {
            Seen seen = body.run();
            return new Trial(name, Trial.Outcome.PASSED, seen.found(), proves, seen.figures());
        } catch (NotRunException e) {
            return new Trial(name, Trial.Outcome.NOT_RUN, OneLine.of(e), proves, Map.of());
        } catch (IOException | RuntimeException | Error e) {
            return new Trial(name, Trial.Outcome.FAILED, OneLine.of(e), proves, Map.of());
        }
    }
}
