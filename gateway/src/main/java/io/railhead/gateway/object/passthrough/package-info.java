/** Reads under the client's own signature, which only the store can verify. */
@NullMarked
package io.railhead.gateway.object.passthrough;

import org.jspecify.annotations.NullMarked;
