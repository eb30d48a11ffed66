/** The native channel: requests and answers as binary records. */
@NullMarked
package io.railhead.protocol.channel;

import org.jspecify.annotations.NullMarked;
