/**
 * A request read once into an immutable record: nothing behind this package reads headers to find
 * out what is asked.
 */
@NullMarked
package io.railhead.gateway.request;

import org.jspecify.annotations.NullMarked;
