/** The native channel: requests and their answers as records of bytes. */
@NullMarked
package io.railhead.protocol.channel;

import org.jspecify.annotations.NullMarked;
