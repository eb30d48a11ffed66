/** What stores tell of their objects, unasked. */
@NullMarked
package io.railhead.gateway.events;

import org.jspecify.annotations.NullMarked;
