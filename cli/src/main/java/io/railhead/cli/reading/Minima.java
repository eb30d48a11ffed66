package io.railhead.cli.reading;

/**
 * How long each way is read at least, all objects in each round.
 *
 * @param seconds measured, and as long before it unmeasured
 */
public record Minima(int rounds, double seconds) {
    public static final Minima STANDARD = new Minima(3, 4);
}
