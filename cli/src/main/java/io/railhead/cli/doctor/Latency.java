package io.railhead.cli.doctor;

import io.railhead.cli.Sizes;
import io.railhead.cli.doctor.StoreCalls.Answer;
import java.time.Duration;
import java.util.List;

/** The latency of a store. */
final class Latency {
    /** Above this latency, revalidation costs more than a rack's memory saves. */
    private static final Duration FAR = Duration.ofMillis(50);

    private Latency() {}

    /**
     * Returns the finding. The first response includes the connection's setup and does not count.
     */
    static Finding finding(String subject, String what, List<Answer> answers) {
        List<Long> nanos = answers.stream().skip(1).map(Answer::nanos).sorted().toList();
        long median = nanos.get(nanos.size() / 2);
        String found = "HEAD of " + what + " takes " + Sizes.millis(median) + " (median of "
                + nanos.size() + "; " + Sizes.millis(nanos.getFirst()) + " to "
                + Sizes.millis(nanos.getLast()) + ")";
        String why = "under the default, freshness: strong, each hit asks the store first, and"
                + " costs this";
        return median <= FAR.toNanos()
                ? Finding.ok(subject, found, why)
                : Finding.warn(subject, found, why, "give objects that are never overwritten a"
                        + " rule with freshness: immutable or bounded, or move the gateway nearer");
    }
}
