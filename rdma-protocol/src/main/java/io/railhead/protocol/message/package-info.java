/** Messages that open, prove and end a session, and the key that proves it. */
@NullMarked
package io.railhead.protocol.message;

import org.jspecify.annotations.NullMarked;
