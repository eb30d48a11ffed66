/** {@code railhead doctor}: what this machine lacks, and how to mend it. */
@NullMarked
package io.railhead.cli.doctor;

import org.jspecify.annotations.NullMarked;
