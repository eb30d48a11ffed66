/** Hits over the native channel beside the same hits over HTTP. */
@NullMarked
package io.railhead.benchmarks.channel;

import org.jspecify.annotations.NullMarked;
