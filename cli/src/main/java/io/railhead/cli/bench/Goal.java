package io.railhead.cli.bench;

/**
 * A figure and what it should be.
 *
 * @param limit what the median must reach; of times and costs, what it must not exceed
 * @param moreIsBetter which of the two
 */
record Goal(String what, Spread measured, double limit, boolean moreIsBetter) {

    static Goal atLeast(double limit, String what, Spread measured) {
        return new Goal(what, measured, limit, true);
    }

    static Goal atMost(double limit, String what, Spread measured) {
        return new Goal(what, measured, limit, false);
    }

    boolean met() {
        return moreIsBetter ? measured.median() >= limit : measured.median() <= limit;
    }
}
