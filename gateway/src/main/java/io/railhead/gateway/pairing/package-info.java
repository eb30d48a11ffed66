/** Pairing over HTTP, for clients that bring a queue pair of their own: docs/dialects-rc.md. */
@NullMarked
package io.railhead.gateway.pairing;

import org.jspecify.annotations.NullMarked;
