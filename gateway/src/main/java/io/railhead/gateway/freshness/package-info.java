/** Freshness: whether a cached object may be served now, and revalidation. */
@NullMarked
package io.railhead.gateway.freshness;

import org.jspecify.annotations.NullMarked;
