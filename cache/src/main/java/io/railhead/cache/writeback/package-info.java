/** The log on disk of writes that were acknowledged before the store had them. */
@NullMarked
package io.railhead.cache.writeback;

import org.jspecify.annotations.NullMarked;
