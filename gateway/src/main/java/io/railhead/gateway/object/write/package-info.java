/** Writes of objects: uploads, copies and parts, relayed, and kept where a rule says so. */
@NullMarked
package io.railhead.gateway.object.write;

import org.jspecify.annotations.NullMarked;
