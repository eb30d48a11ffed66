/** Traces of requests, by OpenTelemetry, as Vert.x makes them. */
@NullMarked
package io.railhead.gateway.tracing;

import org.jspecify.annotations.NullMarked;
