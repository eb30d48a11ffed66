package io.railhead.cli.reading;

/**
 * The client process's order, one line of JSON: read every object, pass after pass, until both
 * minima are reached.
 *
 * @param via as {@code --via} names it
 * @param gatewayPid the process whose processor time is measured too, or 0
 */
record Reading(String endpoint, String via, long gatewayPid, int leastPasses,
        double leastSeconds) {}
