/** Pairing over HTTP, for clients that bring a queue pair of their own: docs/dialects-rc.md. */
@NullMarked
package io.railhead.gateway.rdma.pairing;

import org.jspecify.annotations.NullMarked;
