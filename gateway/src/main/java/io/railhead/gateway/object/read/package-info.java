/** Reads of objects: lookup, discovery, revalidation and delivery, over HTTP or into memory. */
@NullMarked
package io.railhead.gateway.object.read;

import org.jspecify.annotations.NullMarked;
