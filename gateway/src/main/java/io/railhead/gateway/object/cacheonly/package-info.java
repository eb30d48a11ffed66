/** Objects that no store has: buckets under a rule with {@code durability: none}. */
@NullMarked
package io.railhead.gateway.object.cacheonly;

import org.jspecify.annotations.NullMarked;
