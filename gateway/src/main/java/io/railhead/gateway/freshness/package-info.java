/** Freshness: whether a cached object may be served now, and the revalidations that find out. */
@NullMarked
package io.railhead.gateway.freshness;

import org.jspecify.annotations.NullMarked;
