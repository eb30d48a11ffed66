/** The link between a store and its clients in {@code benchmarks/run misses}. */
@NullMarked
package io.railhead.benchmarks.misses;

import org.jspecify.annotations.NullMarked;
