/** The figures behind the page size: what each wastes of a reference mix, and how fast hits are. */
@NullMarked
package io.railhead.benchmarks.pagesize;

import org.jspecify.annotations.NullMarked;
