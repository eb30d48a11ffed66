/** Event notifications of stores. */
@NullMarked
package io.railhead.gateway.events;

import org.jspecify.annotations.NullMarked;
