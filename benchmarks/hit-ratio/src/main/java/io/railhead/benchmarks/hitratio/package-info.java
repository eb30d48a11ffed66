/** How often the cache has what is asked for, beside other policies on the same traces. */
@NullMarked
package io.railhead.benchmarks.hitratio;

import org.jspecify.annotations.NullMarked;
