package io.railhead.cli.doctor;

import io.railhead.cli.doctor.StoreCalls.Answer;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Comparator;
import java.util.List;

/** The difference between a store's clock and this machine's, by the Date of its responses. */
final class Clocks {
    /** The difference that S3 refuses as RequestTimeTooSkewed. */
    private static final Duration REFUSED = Duration.ofMinutes(15);
    /** A difference that synchronised clocks do not reach. */
    private static final Duration NOT_KEPT = Duration.ofSeconds(5);
    private static final String MEND = "keep both clocks: timedatectl set-ntp true, then chronyc"
            + " makestep; date -u on both";

    private Clocks() {}

    static Finding finding(String subject, String host, List<Answer> answers) {
        String why = "S3 refuses requests that are signed more than 15 minutes off, and RDMA"
                + " tokens go by rdma.token_age";
        Answer fastest = answers.stream()
                .min(Comparator.comparingLong(Answer::nanos))
                .orElseThrow();
        Instant theirs;
        try {
            theirs = ZonedDateTime
                    .parse(String.valueOf(fastest.headers().get("Date")),
                            DateTimeFormatter.RFC_1123_DATE_TIME)
                    .toInstant();
        } catch (DateTimeParseException e) {
            return Finding.ok(subject, host + " does not tell its time", why);
        }
        Duration least = least(theirs, fastest);
        String found = least.isZero()
                ? "as " + host + " has it, to the second"
                : "this machine is " + words(least.abs())
                        + (least.isPositive() ? " behind " : " ahead of ")
                        + host;
        if (least.abs().compareTo(REFUSED) >= 0) {
            return Finding.fail(subject, found, why, MEND);
        }
        return least.abs().compareTo(NOT_KEPT) >= 0
                ? Finding.warn(subject, found, why, MEND)
                : Finding.ok(subject, found, why);
    }

    /**
     * Returns the least possible difference, positive if this machine is behind. The store wrote
     * its second at some moment between request and response.
     */
    private static Duration least(Instant theirs, Answer answer) {
        if (theirs.isAfter(answer.received())) {
            return Duration.between(answer.received(), theirs);
        }
        Instant latest = theirs.plusSeconds(1);
        return latest.isBefore(answer.sent())
                ? Duration.between(answer.sent(), latest)
                : Duration.ZERO;
    }

    private static String words(Duration apart) {
        return apart.toSeconds() < 120
                ? Math.max(1, apart.toSeconds()) + " s"
                : apart.toMinutes() + " min";
    }
}
