/** JMH benchmarks of the hot paths, run by hand. */
@NullMarked
package io.railhead.benchmarks;

import org.jspecify.annotations.NullMarked;
