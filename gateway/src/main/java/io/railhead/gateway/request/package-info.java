/**
 * Requests, each parsed once into an immutable record; later code reads no headers to learn the
 * target.
 */
@NullMarked
package io.railhead.gateway.request;

import org.jspecify.annotations.NullMarked;
