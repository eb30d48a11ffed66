/** Reads from the disk tier, beside fio. */
@NullMarked
package io.railhead.benchmarks.disk;

import org.jspecify.annotations.NullMarked;
