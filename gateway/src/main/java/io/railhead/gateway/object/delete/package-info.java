/** Deletion of many objects by one request. */
@NullMarked
package io.railhead.gateway.object.delete;

import org.jspecify.annotations.NullMarked;
