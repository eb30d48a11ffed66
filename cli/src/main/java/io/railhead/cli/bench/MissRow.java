package io.railhead.cli.bench;

/**
 * A contender's rounds of one case.
 *
 * @param what it was, in words
 */
record MissRow(MissCase of, String what, BenchRow row) {}
