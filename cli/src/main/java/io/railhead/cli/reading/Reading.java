package io.railhead.cli.reading;

/**
 * A task of the client process, one line of JSON: read every object, pass after pass, until both
 * minima are reached.
 *
 * @param via the name in {@code --via}
 * @param gatewayPid the process whose processor time is measured too; 0 for none
 */
record Reading(String endpoint, String via, long gatewayPid, int leastPasses,
        double leastSeconds) {}
