/**
 * Objects in registered memory: which version of which object is held, and its pages being read and
 * filled. {@code io.railhead.cache.memory} holds the memory itself.
 */
@NullMarked
package io.railhead.cache;

import org.jspecify.annotations.NullMarked;
