/** Fills: missing bytes are fetched from a backend under one principal's identity. */
@NullMarked
package io.railhead.gateway.fill;

import org.jspecify.annotations.NullMarked;
