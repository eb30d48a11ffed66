/** Fills: the source of missing bytes is a backend as one principal sees it. */
@NullMarked
package io.railhead.gateway.fill;

import org.jspecify.annotations.NullMarked;
