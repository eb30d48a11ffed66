/**
 * Objects in registered memory: the cached versions, their pages, and reads and fills of pages.
 * {@code io.railhead.cache.memory} holds the memory itself.
 */
@NullMarked
package io.railhead.cache;

import org.jspecify.annotations.NullMarked;
