/** Writes that are acknowledged at the gateway's disk, and written to the store behind it. */
@NullMarked
package io.railhead.gateway.object.writeback;

import org.jspecify.annotations.NullMarked;
