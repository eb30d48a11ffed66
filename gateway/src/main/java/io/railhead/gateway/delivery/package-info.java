/** Delivery of an object's bytes: an HTTP body out of page memory, or one-sided. */
@NullMarked
package io.railhead.gateway.delivery;

import org.jspecify.annotations.NullMarked;
