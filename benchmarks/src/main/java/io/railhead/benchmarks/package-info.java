/** What the hot paths cost: JMH benchmarks, run by hand. */
@NullMarked
package io.railhead.benchmarks;

import org.jspecify.annotations.NullMarked;
