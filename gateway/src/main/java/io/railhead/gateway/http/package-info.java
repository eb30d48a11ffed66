/** The front door: connections, heads and bodies between Vert.x and the operations. */
@NullMarked
package io.railhead.gateway.http;

import org.jspecify.annotations.NullMarked;
