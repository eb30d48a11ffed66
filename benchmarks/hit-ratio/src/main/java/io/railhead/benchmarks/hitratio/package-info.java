/** Hit ratios of the cache beside other policies on the same traces. */
@NullMarked
package io.railhead.benchmarks.hitratio;

import org.jspecify.annotations.NullMarked;
