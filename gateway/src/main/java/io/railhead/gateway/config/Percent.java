package io.railhead.gateway.config;

/** A part of a whole, in whole percent. */
public record Percent(int value) {

    public Percent {
        if (value < 0 || value > 100) {
            throw new IllegalArgumentException("value must be 0 to 100: " + value);
        }
    }

    public long of(long whole) {
        return whole / 100 * value + whole % 100 * value / 100;
    }
}
