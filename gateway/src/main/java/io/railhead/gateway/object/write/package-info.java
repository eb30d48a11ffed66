/**
 * Writes of objects: uploads, copies and parts, which are relayed, and cached if a rule says so.
 */
@NullMarked
package io.railhead.gateway.object.write;

import org.jspecify.annotations.NullMarked;
