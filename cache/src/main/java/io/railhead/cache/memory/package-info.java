/** Slabs, pages and leases: who owns each byte of registered memory, and when it is freed. */
@NullMarked
package io.railhead.cache.memory;

import org.jspecify.annotations.NullMarked;
