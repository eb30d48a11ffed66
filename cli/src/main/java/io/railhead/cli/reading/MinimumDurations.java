package io.railhead.cli.reading;

/**
 * The minimum duration of each way's reading, all objects in each round.
 *
 * @param seconds measured, and as long before it unmeasured
 */
public record MinimumDurations(int rounds, double seconds) {
    public static final MinimumDurations STANDARD = new MinimumDurations(3, 4);
}
