package io.railhead.cli.reading;

/**
 * What the client process is asked to do, one line of JSON: read every object, round after round,
 * until both minima are reached.
 *
 * @param via as {@code --via} names it
 */
record Reading(String endpoint, String via, int leastRounds, double leastSeconds) {}
