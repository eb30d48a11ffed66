/** The link between a store and whoever reads or writes it in {@code benchmarks/run misses}. */
@NullMarked
package io.railhead.benchmarks.misses;

import org.jspecify.annotations.NullMarked;
