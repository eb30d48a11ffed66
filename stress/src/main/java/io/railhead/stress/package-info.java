/**
 * Pages under contention, by jcstress: every unlisted outcome is a failure. Each test has two
 * actors: one with three does not run on a machine with two processors, and says so in a single
 * line.
 */
@NullMarked
package io.railhead.stress;

import org.jspecify.annotations.NullMarked;
