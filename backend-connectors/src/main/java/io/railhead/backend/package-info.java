/** Stores as the gateway sees them: the {@code Backend} contract. */
@NullMarked
package io.railhead.backend;

import org.jspecify.annotations.NullMarked;
