/**
 * The client that {@code benchmarks/run} drives for one-sided rows, where wrk and curl cannot:
 * tokens, the native channel, and a plain copy as their bound.
 */
@NullMarked
package io.railhead.benchmarks.peers;

import org.jspecify.annotations.NullMarked;
