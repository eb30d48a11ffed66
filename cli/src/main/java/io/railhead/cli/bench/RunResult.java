package io.railhead.cli.bench;

/**
 * The client process's result, one line of JSON.
 *
 * @param seconds that were measured
 * @param bytes of bodies, or delivered, in that time
 * @param requests that ended in that time
 * @param serverCpu seconds of processor time, user and system
 * @param storeCpu the same of the store behind
 * @param clientCpu the same of this client
 * @param otherCores how many cores' time went to none of them: other work on the machine
 * @param problem empty, or why no figure counts
 */
record RunResult(double seconds, long bytes, long requests, double p50Us, double p99Us,
        double serverCpu, double storeCpu, double clientCpu, double otherCores, String problem) {

    static RunResult failed(String problem) {
        return new RunResult(0, 0, 0, 0, 0, 0, 0, 0, 0, problem);
    }
}
