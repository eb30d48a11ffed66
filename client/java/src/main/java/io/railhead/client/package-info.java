/**
 * The client library of a node: objects by HTTP or by one-sided delivery into the node's own
 * memory.
 */
@NullMarked
package io.railhead.client;

import org.jspecify.annotations.NullMarked;
