package io.railhead.cli.reading;

/**
 * The minimum duration of each measured path; a round reads all objects.
 *
 * @param seconds measured, after an unmeasured warm-up of the same length
 */
public record MinimumDurations(int rounds, double seconds) {
    public static final MinimumDurations STANDARD = new MinimumDurations(3, 4);
}
