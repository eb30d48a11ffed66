package io.railhead.cli.qualify;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * One thing that was tried, or why it was not.
 *
 * @param found what was seen; of FAILED, what was wrong; of NOT_RUN, what is missing
 * @param proves what a pass says about this machine, and what it does not
 * @param figures by name, with the unit at the name's end; empty where there are none
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

    /** Without what tells whose machine this is. */
    Trial redacted(Redaction redaction) {
        return new Trial(name, outcome, redaction.of(found), proves, figures);
    }

    boolean hasPassed() {
        return outcome == Outcome.PASSED;
    }
}
