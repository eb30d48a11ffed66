/** The gateway as a whole: the parts, and the order of their starts and stops. */
@NullMarked
package io.railhead.gateway;

import org.jspecify.annotations.NullMarked;
