package io.railhead.cli.qualify;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * One trial with its result.
 *
 * @param found the result; for FAILED the fault; for NOT_RUN the missing thing
 * @param proves the meaning of a pass on this machine, and its limits
 * @param figures by name, which ends with the unit; empty if there are none
 */
record Trial(String name, Outcome outcome, String found, String proves,
        Map<String, Double> figures) {

    enum Outcome {
        PASSED("passed"),
        FAILED("failed"),
        NOT_RUN("not run");

        private final String words;

        Outcome(String words) {
            this.words = words;
        }

        @JsonValue
        String words() {
            return words;
        }
    }

    Trial {
        figures = Collections.unmodifiableMap(new TreeMap<>(figures));
    }

    /** Returns the trial without texts that identify the machine's owner. */
    Trial redacted(Redaction redaction) {
        return new Trial(name, outcome, redaction.of(found), proves, figures);
    }

    boolean hasPassed() {
        return outcome == Outcome.PASSED;
    }
}
