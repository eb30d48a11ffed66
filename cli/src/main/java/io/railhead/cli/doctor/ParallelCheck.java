package io.railhead.cli.doctor;

import java.util.List;
import java.util.function.Supplier;

/**
 * A check that runs beside others.
 *
 * @param name shown to a waiting user
 * @param look blocks for a bounded time
 */
record ParallelCheck(String name, Supplier<List<Finding>> look) {}
