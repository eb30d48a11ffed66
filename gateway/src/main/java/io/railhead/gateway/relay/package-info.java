/** Requests that are forwarded as they are, and the common part of all answers of stores. */
@NullMarked
package io.railhead.gateway.relay;

import org.jspecify.annotations.NullMarked;
