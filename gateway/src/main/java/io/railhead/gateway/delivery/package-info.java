/** Delivery of an object's bytes: in an HTTP body from page memory, or one-sided. */
@NullMarked
package io.railhead.gateway.delivery;

import org.jspecify.annotations.NullMarked;
