/** What clients that bring a queue pair of their own say over HTTP: docs/dialects-rc.md. */
@NullMarked
package io.railhead.gateway.pairing;

import org.jspecify.annotations.NullMarked;
