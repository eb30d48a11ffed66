/**
 * Pages under contention, by jcstress: every outcome that is not named is a failure. Two actors
 * each: a test of three does not run on a machine with two processors, and says so in one line
 * only.
 */
@NullMarked
package io.railhead.stress;

import org.jspecify.annotations.NullMarked;
