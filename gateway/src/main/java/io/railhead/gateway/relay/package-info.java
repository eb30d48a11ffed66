/** Requests that are forwarded unchanged, and the common handling of stores' responses. */
@NullMarked
package io.railhead.gateway.relay;

import org.jspecify.annotations.NullMarked;
