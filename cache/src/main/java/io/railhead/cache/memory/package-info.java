/** Slabs, pages and leases: the ownership and the release of registered memory. */
@NullMarked
package io.railhead.cache.memory;

import org.jspecify.annotations.NullMarked;
