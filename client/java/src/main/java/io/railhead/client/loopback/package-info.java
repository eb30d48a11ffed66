/** The client's end of a session over a Unix domain socket. */
@NullMarked
package io.railhead.client.loopback;

import org.jspecify.annotations.NullMarked;
