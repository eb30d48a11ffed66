package io.railhead.cli.doctor;

import java.util.List;
import java.util.function.Supplier;

/**
 * Something that is looked at beside other things.
 *
 * @param name for whoever waits
 * @param look blocks, for a bounded time
 */
record ParallelCheck(String name, Supplier<List<Finding>> look) {}
