/** {@code railhead doctor}: the faults of this machine, and their cure. */
@NullMarked
package io.railhead.cli.doctor;

import org.jspecify.annotations.NullMarked;
