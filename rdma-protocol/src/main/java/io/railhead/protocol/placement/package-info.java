/** The rule by which gateways and their clients find the owner of an object's bytes. */
@NullMarked
package io.railhead.protocol.placement;

import org.jspecify.annotations.NullMarked;
