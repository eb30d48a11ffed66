/** The entrance of requests: listeners, and each request's way from its head to its operation. */
@NullMarked
package io.railhead.gateway.frontdoor;

import org.jspecify.annotations.NullMarked;
