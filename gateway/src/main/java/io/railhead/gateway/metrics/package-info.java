/** Metrics: the gateway's own counters, and those of memory, cache, stores, fabrics and ports. */
@NullMarked
package io.railhead.gateway.metrics;

import org.jspecify.annotations.NullMarked;
