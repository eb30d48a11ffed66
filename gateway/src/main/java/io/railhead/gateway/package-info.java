/** The gateway as a whole: what is started, in which order, and stopped. */
@NullMarked
package io.railhead.gateway;

import org.jspecify.annotations.NullMarked;
