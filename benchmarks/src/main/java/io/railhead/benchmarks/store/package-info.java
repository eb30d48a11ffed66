/** HTTP clients that could talk to stores, side by side. */
@NullMarked
package io.railhead.benchmarks.store;

import org.jspecify.annotations.NullMarked;
