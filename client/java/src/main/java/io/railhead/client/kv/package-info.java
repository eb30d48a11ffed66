/**
 * Blocks of a cache that a gateway holds in memory, such as the KV cache of an inference engine.
 */
@NullMarked
package io.railhead.client.kv;

import org.jspecify.annotations.NullMarked;
