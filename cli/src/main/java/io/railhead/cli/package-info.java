/** The one {@code main} behind {@code ./railhead}. */
@NullMarked
package io.railhead.cli;

import org.jspecify.annotations.NullMarked;
